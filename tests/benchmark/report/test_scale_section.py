"""The sections on scale, margin and gradient: there where the experiment has that shape, and with the right figures."""

import csv
import io
from pathlib import Path

import pytest

from benchmark import spec
from benchmark.cell import Cell
from benchmark.findings.findings import Findings
from benchmark.report import write_report
from benchmark.report.build import sections_of
from benchmark.report.page import Section
from benchmark.results import collect
from benchmark.tables import Table
from tests.benchmark.engine.runner import Runner
from tests.benchmark.report.stored import TWO_DATASETS, store_runs

pytestmark = pytest.mark.xdist_group("scale")  # what its fixtures make is made once

GRID = """\
description: Made by hand.
baseline: normface s=4
seeds: 5
datasets:
  - digits
  - glyphs: {classes: 20}
    label: glyphs
losses:
  - normface: {s: [4, 16]}
  - arcface: {s: [4, 16], m: [0.1, 0.3]}
  - softmax
"""
GRADIENTS = """\
description: Made by hand.
baseline: arcface gradient=exact
seeds: 5
datasets: [digits]
losses:
  - arcface: {gradient: [exact, detached]}
  - cosface: {gradient: [exact, detached]}
"""
REAL = """\
description: Real cells.
baseline: normface s=4
seeds: 2
dim: 8
datasets: [digits]
recipe: {lr: 0.05, epochs: 1, batch: 128}
losses:
  - normface: {s: [4, 16]}
  - arcface: {s: [4, 16], m: [0.1, 0.3]}
  - arcface: {s: 4, m: 0.1, gradient: detached}
"""


def by_scale(cell: Cell) -> float | None:
    """Four points from s=4 to 16, and one from m=.1 to .3; the seeds' own part differs from loss to loss."""
    hyper = cell.hyper
    noise = 0.001 * ((cell.seed * (2 if cell.loss == "arcface" else 1)) % 5 - 2)
    return 0.94 + 0.04 * (hyper.get("s") == 16.0) + 0.01 * (hyper.get("m") == 0.3) + noise


def sections(folder: Path, text: str, value: object) -> dict[str, Section]:
    path = store_runs(folder, text, value)  # type: ignore[arg-type]
    collected = collect(spec.load(path), folder / "results")
    return {one.name: one for one in sections_of(collected, Findings.of_experiment(collected))}


def table(section: Section, name: str) -> Table:
    return next(one for one in section.tables if one.name == name)


def lines(found: Table) -> dict[tuple[str, ...], list[str]]:
    """By dataset, loss and margin."""
    return {tuple(e.text for e in row.entries[:3]): [e.text for e in row.entries[3:]] for row in found.rows}


def test_an_experiment_of_another_shape_has_neither(tmp_path: Path) -> None:
    path = store_runs(tmp_path, TWO_DATASETS)
    collected = collect(spec.load(path), tmp_path / "results")
    assert sections_of(collected, Findings.of_experiment(collected)) == []


def test_what_the_margin_adds_at_the_same_scale(tmp_path: Path) -> None:
    section = sections(tmp_path, GRID, by_scale)["scale"]
    assert [one.name for one in section.tables] == ["scale-alone", "margin-at-equal-scale", "best-settings"]
    found = lines(table(section, "margin-at-equal-scale"))
    for dataset in ("digits", "glyphs", "all datasets"):
        assert [entry.split(" ± ")[0] for entry in found[dataset, "arcface", "0.3"]] == ["+1.00", "+1.00"]
        assert [entry.split(" ± ")[0] for entry in found[dataset, "arcface", "0.1"]] == ["0.00", "0.00"]
    notes = {row.entries[2].text: row.entries[3].note for row in table(section, "margin-at-equal-scale").rows}
    assert notes == {"0.1": "", "0.3": "significant after Holm's correction"}
    assert any("No setting failed" in words for words in section.words)


def test_what_scale_does_and_each_loss_at_its_best(tmp_path: Path) -> None:
    section = sections(tmp_path, GRID, by_scale)["scale"]
    alone = lines(table(section, "scale-alone"))
    assert [entry.split(" ± ")[0] for entry in alone["digits", "normface", "–"][:2]] == ["94.00", "98.00"]
    marks = [entry.mark for row in table(section, "scale-alone").rows for entry in row.entries[3:5]]
    assert marks == ["", "best"] * (len(marks) // 2)
    best = table(section, "best-settings")
    found = {(row.entries[0].text, row.entries[1].text): [entry.text for entry in row.entries[2:]] for row in best.rows}
    assert found["glyphs", "arcface"][:4] == ["arcface s=16 m=0.3", "16", "0.3", "98.90"]
    assert found["glyphs", "arcface"][4].startswith("99.00 ± ")
    assert found["glyphs", "arcface"][5] == found["glyphs", "arcface"][6] != "–"
    assert found["digits", "normface"][0] == "normface s=16"
    assert found["digits", "normface"][5] == "–"
    assert len(found) == 2 * 3


def test_diverged_settings_are_listed(tmp_path: Path) -> None:
    def sick(cell: Cell) -> float | None:
        return None if cell.hyper.get("m") == 0.3 and cell.hyper["s"] == 16.0 else by_scale(cell)

    section = sections(tmp_path, GRID, sick)["scale"]
    failing = table(section, "where-training-fails")
    assert [[entry.text for entry in row.entries] for row in failing.rows] == [
        [dataset, "arcface s=16 m=0.3", "5", "5", "0", "0"] for dataset in ("digits", "glyphs")
    ]
    assert lines(table(section, "margin-at-equal-scale"))["digits", "arcface", "0.3"][1] == "–"
    assert "diverged" in lines(table(section, "scale-alone"))["digits", "arcface", "0.3"]


def test_without_normface_it_says_why_nothing_is_compared(tmp_path: Path) -> None:
    text = GRID.replace("baseline: normface s=4", "baseline: softmax").replace("  - normface: {s: [4, 16]}\n", "")
    section = sections(tmp_path, text, by_scale)["scale"]
    assert [one.name for one in section.tables] == ["scale-alone", "best-settings"]
    assert any("normface, which has no margin, was not run" in words for words in section.words)


def test_detached_against_exact(tmp_path: Path) -> None:
    def value(cell: Cell) -> float:
        detached = cell.hyper.get("gradient") == "detached"
        if cell.loss == "cosface":
            return 0.9
        return 0.9 - 0.02 * detached + 0.001 * ((cell.seed * (1 + detached)) % 5 - 2)

    found = sections(tmp_path, GRADIENTS, value)
    assert list(found) == ["gradient"]
    rows = {row.entries[0].text: [entry.text for entry in row.entries[1:]] for row in found["gradient"].tables[0].rows}
    assert rows["arcface"][1].startswith("−2.00 ± ")
    assert rows["arcface"][2] == "exact is better"
    assert rows["cosface"][1] == "0.00 ± 0.00"
    assert rows["cosface"][2] == "equal in every seed"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a real run with pictures; the folder of its files."""
    runner = Runner(tmp_path_factory.mktemp("real"), REAL)
    status, output = runner.run()
    assert status == 0, output
    return write_report(runner.folder / "tiny.yaml", runner.results).page.parent


def test_a_real_run_has_both_sections_with_their_files(real: Path) -> None:
    page = (real / "index.html").read_text()
    for anchor, words in (("scale", "Effect of the margin at the same scale"), ("gradient", "Detached minus exact")):
        assert f'<section id="{anchor}"' in page
        assert f'href="#{anchor}"' in page
        assert words in page
    of_scale = ("scale/scale-alone", "scale/margin-at-equal-scale", "scale/best-settings")
    for place in (*of_scale, "gradient/exact-or-detached"):
        for ending in ("md", "tex", "csv"):
            assert (real / f"{place}.{ending}").stat().st_size > 100
    rows = list(csv.DictReader(io.StringIO((real / "scale" / "margin-at-equal-scale.csv").read_text())))
    found = {(row["Loss"], row["Margin"]) for row in rows}
    assert found == {("arcface", "0.1"), ("arcface", "0.3"), ("arcface gradient=detached", "0.1")}


def test_a_real_run_has_their_pictures_in_the_sections(real: Path) -> None:
    page = (real / "index.html").read_text()
    start, end = page.index('<section id="scale"'), page.index('<section id="angles"')
    for name in ("scale", "margin-effect-arcface", "scale-margin-digits", "gradient"):
        assert (real / "figures" / f"{name}.png").is_file(), name
        assert f'id="figure-{name}"' in page[start:end]
    assert page.count('id="figure-scale"') == 1


def test_best_settings_of_a_real_run_are_validation_s(real: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((real / "scale" / "best-settings.csv").read_text())))
    assert [row["Loss"] for row in rows] == ["arcface", "normface"]
    summary = list(csv.DictReader(io.StringIO((real.parent / "summary.csv").read_text())))
    for row in rows:
        means: dict[str, list[float]] = {}
        for run in summary:
            if run["loss"] == row["Loss"]:
                means.setdefault(run["label"], []).append(float(run["val/classification_accuracy"]))
        best = max(sum(values) / len(values) for values in means.values())
        assert float(row["Validation, %"]) == pytest.approx(100 * best)
