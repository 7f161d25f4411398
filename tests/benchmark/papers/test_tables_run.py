"""Smoke scale of every table, run for real: training, measuring, comparing, writing."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmark import papers, run_experiment
from benchmark.cli import app
from benchmark.options import RunOptions
from benchmark.papers import data_check
from benchmark.results import collect

PROJECT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.mark.parametrize("name", papers.names())
def test_smoke(name: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paper = papers.load(name)
    scale = paper.scales["smoke"]
    options = RunOptions(results=results, data=tmp_path, workers=1)
    assert papers.make_tables([paper], "smoke", options) == 0
    collected = collect(scale.experiment, results)
    assert not collected.missing
    assert {measured.metric for measured in scale.measured} <= set(collected.table.columns)
    shown = capsys.readouterr().out
    assert paper.title in shown
    assert "2nd-hand" in shown or not any(source.second_hand for source in paper.sources)
    folder = results / f"table-{name}-smoke" / "table"
    assert f"table: {folder}" in shown
    rows = list(csv.DictReader((folder / f"table-{name}-smoke.csv").open()))
    measured = [value for row in rows for key, value in row.items() if key.endswith("measured") and value]
    assert len(measured) == len(scale.measured) * len(scale.experiment.losses)
    for file in ("index.html", "table.md", "table.tex"):
        assert (folder / file).stat().st_size > 1000


def call(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark", *words]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120)


def test_full_scale_without_data_exits_2_before_anything_starts(tmp_path: Path) -> None:
    places = ("--results", str(tmp_path / "results"), "--data", str(tmp_path / "data"))
    done = call("table", "arcface", "--scale", "full", *places)
    assert done.returncode == 2
    assert str(tmp_path / "data" / "faces_webface_112x112") in done.stderr
    assert "https://github.com/deepinsight/insightface" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_all_tables_at_full_scale_are_refused_together(tmp_path: Path, monkeypatch) -> None:
    """Not after the first ones, whose data is here, have trained for days."""
    started: list[RunOptions] = []
    monkeypatch.setattr(run_experiment, "run", lambda experiment, options, overview: started.append(options) or 0)
    here = {"adaacos", "adacos"}

    def reason(row, scale, root) -> str | None:
        return None if row.name in ("emnist", "omniglot") else "nowhere to be found"

    monkeypatch.setattr(data_check, "_reason", reason)
    options = RunOptions(results=tmp_path / "results", data=tmp_path)
    chosen = [papers.load(name) for name in papers.names()]
    with pytest.raises(ValueError, match="nothing was started") as caught:
        papers.make_tables(chosen, "full", options)
    assert not started
    for paper in chosen:
        missing = "full" in paper.scales and paper.name not in here
        assert (f"{paper.name} at scale full: " in str(caught.value)) == missing


def test_the_command_refuses_them_together_too(tmp_path: Path) -> None:
    places = ["--results", str(tmp_path / "results"), "--data", str(tmp_path / "data")]
    done = CliRunner().invoke(app, ["table", "all", "--scale", "full", *places])
    assert isinstance(done.exception, ValueError)  # which main turns into exit 2
    for name in papers.names():
        assert f"{name} at scale full: " in (str(done.exception) if name != "timm-face" else done.stderr)
    assert not (tmp_path / "results").exists()


def test_data_that_is_missing_below_full_scale_is_left_out_and_said(tmp_path: Path, monkeypatch, capsys) -> None:
    paper = papers.load("sphereface")
    seen: list[RunOptions] = []
    monkeypatch.setattr(run_experiment, "run", lambda experiment, options, overview: seen.append(options) or 0)
    options = RunOptions(results=tmp_path / "results", data=tmp_path)
    assert papers.make_tables([paper], "cpu", options) == 0
    assert seen[0].datasets == ["glyphs"]
    shown = capsys.readouterr()
    assert "note: mnist is left out: mnist: the data is not here" in shown.err
    assert "mnist was left out: mnist: the data is not here" in shown.out
    assert "20 runs have no result yet." in shown.out


def test_a_table_whose_only_wanted_data_is_missing_is_refused(tmp_path: Path) -> None:
    options = RunOptions(results=tmp_path, data=tmp_path, datasets=["mnist"])
    with pytest.raises(ValueError, match="nothing was started"):
        papers.make_tables([papers.load("sphereface")], "cpu", options)


PACK = "faces_lfw_112x112"
RENAMED = {"agedb_30.bin": "agedb_30_py2.bin"}


@pytest.mark.skipif(not Path(os.environ.get("MARGINBENCH_DATA", ""), PACK).is_dir(), reason=f"there is no {PACK}")
def test_full_scale_on_a_small_pack_of_real_faces(tmp_path: Path) -> None:
    """Two of the rows: one training of each, with three columns beside the published ones."""
    pack = tmp_path / "data" / "faces_webface_112x112"
    pack.mkdir(parents=True)
    for name in ("train.rec", "train.idx", "property", "lfw.bin", "cfp_fp.bin", "agedb_30.bin"):
        (pack / name).symlink_to(Path(os.environ["MARGINBENCH_DATA"], PACK, RENAMED.get(name, name)).resolve())
    words = ["table", "arcface", "--scale", "full", "--losses", "cosface,softmax", "--seeds", "0", "--workers", "1"]
    words += ["--override", "backbone=convnet", "--override", "recipe.epochs=1"]
    done = call(*words, "--data", str(tmp_path / "data"), "--results", str(tmp_path / "results"))
    assert done.returncode == 0, done.stderr
    assert "overrides: backbone=convnet, recipe.epochs=1" in done.stderr
    assert "Changed with --override: backbone=convnet, recipe.epochs=1." in done.stdout
    assert "Differs: net: ResNet-50 there, convnet here." in done.stdout
    assert "Differs: length: 32,000 steps there, 1 epoch here." in done.stdout
    assert "Made from 2 runs" in done.stdout
    assert len(list((tmp_path / "results" / "table-arcface-full" / "runs").glob("*/metrics.json"))) == 2
    table = tmp_path / "results" / "table-arcface-full" / "table" / "table-arcface-full.csv"
    rows = {row["loss"]: row for row in csv.DictReader(table.open())}
    for name in ("LFW", "CFP-FP", "AgeDB-30"):
        for loss in ("cosface m=.35", "softmax"):
            published, measured = (
                float(rows[loss][f"{name} %, published"]),
                float(rows[loss][f"{name} here %, measured"]),
            )
            assert 40 < measured < 100
            assert float(rows[loss][f"{name} here minus {name}"]) == pytest.approx(measured - published, abs=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["table", "arcface", "--override", "recipe.epohcs=1"], "recipe.epohcs: there is no key 'epohcs'"),
        (["table", "arcface", "--override", "name=mine"], "name: should be left out"),
        (["table", "timm-face", "--scale", "full"], "nothing is measured, because"),
        (["table", "arcfase"], "did you mean 'arcface'"),
        (["table", "arcface", "--scale", "gpu"], "expected one of smoke, cpu, full"),
        (["table", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_wrong_calls(words: list[str], message: str) -> None:
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, ValueError)  # which main turns into one line and exit 2
    assert message in str(done.exception)


def test_dry_run_with_overrides() -> None:
    done = CliRunner().invoke(app, ["table", "arcface", "--dry-run", "--override", "seeds=2", "--override", "dim=8"])
    assert done.exit_code == 0
    assert "overrides: seeds=2, dim=8" in done.stdout.splitlines()[-4]
    assert "table-arcface-cpu: 22 cells, " in done.stdout.splitlines()[-3]
    assert "convnet/8 " in done.stdout.splitlines()[0]


def test_other_data_than_the_files_is_not_subtracted() -> None:
    paper = papers.load("arcface", {"full": ["datasets.faces.train=mine"]})
    scale = paper.scales["full"]
    assert not any(scale.on_same_data(column, one) for column in paper.columns for one in scale.measured)
    assert not paper.scales["cpu"].overrides


def test_dry_run_and_list() -> None:
    done = CliRunner().invoke(app, ["table", "arcface", "--dry-run"])
    assert done.exit_code == 0
    assert "table-arcface-cpu: 55 cells, " in done.stdout.splitlines()[-3]
    assert "arcface-angles  ArcFace, Table 3" in CliRunner().invoke(app, ["list", "papers"]).stdout
