"""The whole report, from stored results to files: what is in it, that it comes out the same, and what it says when
results are missing, few, diverged or damaged."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmark import spec
from benchmark.cell import PROTOCOL_VERSION, Cell
from benchmark.commands.experiment import _report_on
from benchmark.findings.findings import Findings
from benchmark.pages.pictures import Drawn, that_fit
from benchmark.report import build, write_report
from benchmark.report.build import file_names
from benchmark.results import collect
from benchmark.store import Failure, Store
from benchmark.store.runs import opened, sealed
from benchmark.tables import Column, Row, Table, Value
from tests.benchmark.engine.runner import Runner
from tests.benchmark.report.stored import TWO_DATASETS, store_runs, usual
from tests.latex import compile_latex

REAL = """\
description: Six real cells.
baseline: normface
seeds: 2
dim: 8
datasets: [digits]
recipe: {lr: 0.1, epochs: 1, batch: 64}
losses: [softmax, {normface: {s: 8}}, {arcface: {s: 8, m: 0.1}}]
"""


def written(folder: Path, experiment: Path) -> dict[str, str]:
    """The report's files, by name."""
    place = write_report(str(experiment), folder / "results", pictures=False).page.parent
    return {
        str(file.relative_to(place)): file.read_text(encoding="utf-8")
        for file in sorted(place.rglob("*"))
        if file.suffix in (".html", ".md", ".tex", ".csv")
    }


def text_of(page: str) -> str:
    """What a reader sees of the page, more or less."""
    body = page[page.index("<body") : page.index("<script>")]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_a_real_run_ends_with_its_report(tmp_path: Path) -> None:
    runner = Runner(tmp_path, REAL)
    status, output = runner.run("--report")
    assert status == 0, output
    page = runner.results / "tiny" / "report" / "index.html"
    assert output.rstrip().endswith(f"report: {page}")
    assert "There are too few seeds for a test: it needs 5, and there are 2." in output
    text = text_of(page.read_text())
    assert "1 dataset, 3 losses, 2 seeds, 6 runs" in text
    assert "closed: the test classes are the training classes" in text
    pictures = sorted((page.parent / "figures").glob("*.png"))
    assert len(pictures) > 3
    assert [file.with_suffix(".svg") for file in pictures] == sorted((page.parent / "figures").glob("*.svg"))
    assert page.read_text().count('<img src="data:image/png;base64,') == len(pictures)
    assert "Pictures that were not drawn" in text
    with open(runner.results / "tiny" / "summary.csv") as file:
        rows = list(csv.DictReader(file))
    mean = 50 * sum(float(row["test/classification_accuracy"]) for row in rows if row["loss"] == "softmax")
    with open(page.parent / "table.csv") as file:
        table = {row["loss"]: row for row in csv.DictReader(file)}
    assert float(table["softmax"]["digits: classification accuracy, %"]) == pytest.approx(mean)


def test_the_files(tmp_path: Path) -> None:
    files = written(tmp_path, store_runs(tmp_path))
    for name in (
        "table",
        "settings",
        "differences",
        "geometry",
        "metrics/test-eer",
        "datasets/digits",
        "datasets/glyphs",
    ):
        assert {f"{name}.md", f"{name}.tex", f"{name}.csv"} <= set(files), name
    assert "| adacos | <u>" in files["table.md"] or "| adacos | **" in files["table.md"]
    assert r"\toprule" in files["table.tex"]
    assert len(files["index.html"]) < 15 * 2**20


def test_every_tex_file_compiles(tmp_path: Path) -> None:
    text = TWO_DATASETS.replace("label: glyphs", r'label: "50% of $x_1$ & \\input{x} ~^# <b> 中文"')
    files = written(tmp_path, store_runs(tmp_path, text))
    tables = [content for name, content in files.items() if name.endswith(".tex")]
    assert len(tables) > 5
    log = compile_latex("\n\\clearpage\n".join(tables), tmp_path / "latex")
    assert "Overfull" not in log


def test_two_builds_differ_in_the_date_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = store_runs(tmp_path)
    first = written(tmp_path, experiment)
    monkeypatch.setattr("time.gmtime", lambda: (2030, 1, 2, 3, 4, 5, 2, 2, 0))
    second = written(tmp_path, experiment)
    assert first.keys() == second.keys()
    unlike = [name for name in first if first[name] != second[name]]
    assert unlike == ["index.html"]
    pairs = zip(first["index.html"].splitlines(), second["index.html"].splitlines(), strict=True)
    lines = [pair for pair in pairs if pair[0] != pair[1]]
    assert len(lines) == 1
    assert lines[0][1] == '<p class="made">Made on 2030-01-02 03:04 UTC.</p>'


def test_a_file_of_an_earlier_report_goes_and_a_readers_own_stays(tmp_path: Path) -> None:
    experiment = store_runs(tmp_path)
    report = tmp_path / "results" / "made" / "report"
    for name in ("datasets/gone.csv", "figures/old.png", "geometry.png", "datasets/my-notes.txt", "notes.md"):
        (report / name).parent.mkdir(parents=True, exist_ok=True)
        (report / name).write_text("x")
    write_report(str(experiment), tmp_path / "results", pictures=False)
    assert not (report / "datasets" / "gone.csv").exists()
    assert not (report / "figures" / "old.png").exists()
    assert not (report / "geometry.png").exists()
    assert (report / "datasets" / "my-notes.txt").exists()
    assert (report / "notes.md").exists()


def described(experiment: Path, loss: str, dataset: str = "digits", seed: int = 0) -> dict[str, Any]:
    """The cell as a failure's file has it."""
    (cell,) = spec.load(experiment).cells(losses=[loss], datasets=[dataset], seeds=[seed])
    return cell.description()


def test_nothing_stored_says_what_to_run(tmp_path: Path) -> None:
    def nothing(cell: Cell) -> float:
        raise KeyError

    experiment = store_runs(tmp_path, value=nothing)
    with pytest.raises(ValueError, match=r"no results of made .*: run `python -m benchmark run .*made.yaml` first"):
        write_report(str(experiment), tmp_path / "results", pictures=False)
    Store(tmp_path / "results", "made").record_failure(
        Failure("0" * 16, "digits · convnet/64 · softmax · seed 0", "out of memory", described(experiment, "softmax"))
    )
    with pytest.raises(ValueError, match=r"1 cell failed, the first is digits .* out of memory"):
        write_report(str(experiment), tmp_path / "results", pictures=False)
    assert not (tmp_path / "results" / "made" / "report").exists()


def test_results_of_other_settings_do_not_count(tmp_path: Path) -> None:
    experiment = store_runs(tmp_path)
    experiment.write_text(TWO_DATASETS.replace("seeds: 5", "seeds: [77]"))
    with pytest.raises(ValueError, match="40 stored runs have other settings"):
        write_report(str(experiment), tmp_path / "results", pictures=False)


def test_diverged_failed_missing_and_damaged_are_told(tmp_path: Path) -> None:
    def value(cell: Cell) -> float | None:
        if cell.loss == "softmax" and cell.seed < 2:
            return None
        if cell.loss == "arcface" and cell.dataset_label == "glyphs":
            raise KeyError
        return usual(cell)

    experiment = store_runs(tmp_path, value=value)
    store = Store(tmp_path / "results", "made")
    reason = "<b>the worker</b> was killed"
    store.record_failure(Failure("0" * 16, "a cell", reason, described(experiment, "arcface", "glyphs", 3)))
    sound = next(run for run in store.load_all()[0] if run.cell["cell"]["loss"] == "normface")
    (sound.folder / "history.csv").write_text("changed")
    page = written(tmp_path, experiment)["index.html"]
    text = text_of(page)
    assert "Some cells have no sound result: 4 diverged, 1 failed, 5 not run yet, 1 damaged." in text
    assert "diverged at step 120: the loss is not finite" in text
    assert "&lt;b&gt;the worker&lt;/b&gt; was killed" in text
    assert re.search(r"missing arcface glyphs · convnet/64 0, 1, 2, 4 not run yet", text)
    assert "history.csv has changed since it was written" in text
    assert "not run" in text


def test_an_all_diverged_dataset(tmp_path: Path) -> None:
    experiment = store_runs(tmp_path, value=lambda cell: None if cell.dataset["name"] == "digits" else usual(cell))
    text = text_of(written(tmp_path, experiment)["index.html"])
    assert "On digits , every run diverged, so there is nothing to rank." in text
    assert "Training classes 10" in text
    assert "20 diverged" in text


def test_everything_diverged(tmp_path: Path) -> None:
    files = written(tmp_path, store_runs(tmp_path, value=lambda cell: None))
    text = text_of(files["index.html"])
    assert "Every run diverged, so no loss can be recommended with these settings." in text
    assert "No run has a value, so there are no differences to show." in text
    assert "differences.md" not in files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            TWO_DATASETS.replace("seeds: 5", "seeds: 1"),
            "There are too few seeds for a test: it needs 5, and there is one.",
        ),
        (
            TWO_DATASETS.replace("[softmax, normface, arcface, adacos]", "[normface]"),
            "There is nothing to compare: only",
        ),
        (TWO_DATASETS.replace("baseline: normface\n", "baseline: softmax\n"), "No single winner"),
    ],
)
def test_small_experiments(tmp_path: Path, text: str, said: str) -> None:
    assert said in text_of(written(tmp_path, store_runs(tmp_path, text))["index.html"])


def test_a_baseline_that_was_not_run(tmp_path: Path) -> None:
    def value(cell: Cell) -> float:
        if cell.loss == "normface":
            raise KeyError
        return usual(cell)

    text = text_of(written(tmp_path, store_runs(tmp_path, value=value))["index.html"])
    assert "The baseline normface has no result yet" in text


def test_several_dims_are_several_datasets(tmp_path: Path) -> None:
    files = written(tmp_path, store_runs(tmp_path, TWO_DATASETS + "dim: [2, 3]\n"))
    assert {"datasets/digits-dim-2.csv", "datasets/digits-dim-3.csv"} <= set(files)
    assert "embeddings of 3 dimensions" in text_of(files["index.html"])


def test_settings_and_versions_are_there(tmp_path: Path) -> None:
    text = text_of(written(tmp_path, store_runs(tmp_path))["index.html"])
    for part in (
        "0123456789ab",
        "2.13.0",
        f"version {PROTOCOL_VERSION}",
        "Linux x86_64",
        "2026-01-02",
        "40 of 40 cells have a result",
    ):
        assert part in text, part
    assert "description: Made by hand." in text


def test_runs_of_two_commits_are_counted(tmp_path: Path) -> None:
    experiment = store_runs(tmp_path)
    first = sorted((tmp_path / "results" / "made" / "runs").glob("*"))[0] / "cell.json"
    cell = opened(first)
    cell["provenance"]["commit"] = "ba9876543210+"
    first.write_bytes(sealed(cell))
    assert json.loads(first.read_text())["provenance"]["commit"] == "ba9876543210+"
    text = text_of(written(tmp_path, experiment)["index.html"])
    assert "0123456789ab (39 runs), ba9876543210+ (1 run)" in text


def test_a_run_whose_report_cannot_be_written_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = store_runs(tmp_path)
    (tmp_path / "results" / "made" / "report").write_text("in the way")
    assert _report_on(spec.load(experiment), tmp_path / "results") == 1
    assert "no report was written" in capsys.readouterr().err


def test_without_pictures_the_page_says_so(tmp_path: Path) -> None:
    assert "This report was made without pictures." in text_of(written(tmp_path, store_runs(tmp_path))["index.html"])


def test_file_names_are_plain_and_different() -> None:
    names = file_names(["digits", "Digits", "../../etc", "中文", "中国", "a" * 200])
    assert list(names.values()) == ["digits", "digits-2", "etc", "dataset", "dataset-2", "a" * 50]


def test_pictures_beyond_the_limit_are_named_instead() -> None:
    pictures = [Drawn(f"p{size}", f"Picture {size}", "", "s", bytes(size), b"") for size in (600, 500, 300)]
    fitting, left_out = that_fit(pictures, largest=1000)
    assert [one.name for one in fitting] == ["p600", "p300"]
    assert [(one.title, one.reason) for one in left_out] == [
        ("Picture 500", "left out to keep the page small; it is in figures/p500.png")
    ]


def test_claims_that_rest_on_the_experiment_have_a_section(tmp_path: Path) -> None:
    collected = collect(spec.load(store_runs(tmp_path)), tmp_path / "results")
    overview = Table("claims", "Claims", (Column("<claim>", numeric=False),), (Row((Value("✓ <i>supported</i>"),)),))
    one = Table("claim-1", "<b>One</b>", (Column("part", numeric=False),), (Row((Value("1a"),)),))
    report = build(collected, Findings.of_experiment(collected), "a day", claims=[overview, one])
    page = report.files["index.html"].decode()
    assert 'href="#ledger"' in page
    assert "✓ &lt;i&gt;supported&lt;/i&gt;" in page
    assert "<summary>&lt;b&gt;One&lt;/b&gt;</summary>" in page
    assert {"claims/claims.md", "claims/claim-1.csv", "claims/claim-1.tex"} <= set(report.files)
    assert 'id="ledger"' not in written(tmp_path, tmp_path / "made.yaml")["index.html"]
    compile_latex(report.files["claims/claims.tex"].decode(), tmp_path / "latex")
