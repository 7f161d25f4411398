"""`advise` and `maps` as they are called."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmark.advice import maps_file
from benchmark.advice.maps_file import read_maps
from benchmark.cli import app
from tests.benchmark.advice.made import write
from tests.benchmark.report.stored import store_runs

PROJECT = Path(__file__).parents[3]
GRID = """\
description: Made by hand.
baseline: normface s=4
seeds: 3
datasets:
  - digits
  - glyphs: {classes: 20}
    label: glyphs
losses:
  - normface: {s: [4, 16]}
  - arcface: {s: [4, 16], m: [0.1, 0.3]}
"""


def call(*words: str) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("classes", [2, 10, 47, 1000, 10**9])
def test_any_number_of_classes(tmp_path: Path, classes: int) -> None:
    for maps in ([], ["--maps", str(write(tmp_path))]):
        output = call("advise", "--classes", str(classes), "--dim", "64", *maps)
        first = output.splitlines()[0]
        assert first.startswith("Start with" if 10 <= classes <= 1000 else f"Caution: {classes:,} classes lie")
        assert f"Rules for s at {classes:,} classes" in output
        assert "arXiv:1801.09414" in output
        assert "cosface" in output
        assert "nan" not in output.lower().split()
    assert "Measured: experiment made" in output


def test_ten_classes_in_figures(tmp_path: Path) -> None:
    output = call("advise", "--classes", "10", "--dim", "64", "--maps", str(write(tmp_path)))
    for words in ("≥ 3.95", "≥ 6.11", "3.11", "10.80", "2.68", "2.10", "ten (10 classes)", "93.00 ± 1.00", "1.111"):
        assert words in output, words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--classes", "1"], "--classes 1: expected a whole number from 2"),
        (["--classes", "-5"], "--classes -5"),
        ([], "advise needs --classes"),
        (["--classes", "10", "--maps", "nowhere.csv"], "nowhere.csv: there is no such file"),
        (["--classes", "10", "--plot", "picture.gif"], "expected a name that ends in .png or .svg"),
    ],
)
def test_wrong_calls_end_in_one_message(words: list[str], message: str) -> None:
    command = [sys.executable, "-m", "benchmark", "advise", *words]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_map_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["advise", "--classes", "10", "--maps", str(write(tmp_path, "s,m\n1,2\n"))])
    assert isinstance(done.exception, ValueError)
    assert "maps.csv: does not say # experiment" in str(done.exception)


@pytest.mark.parametrize(
    ("form", "sign"), [("markdown", "| ---:"), ("latex", r"\begin{tabular}"), ("html", "<table"), ("csv", "Classes,")]
)
def test_the_table_in_every_format(form: str, sign: str) -> None:
    output = call("advise", "--table", "--format", form)
    assert sign.replace("| ", "|") in output.replace("| ", "|")
    assert "1000000" in output.replace(",", "") if form != "latex" else True


def test_the_picture_is_a_picture_and_the_same_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maps = str(write(tmp_path))
    pictures = []
    for name in ("one.png", "two.png"):
        call("advise", "--classes", "47", "--maps", maps, "--plot", str(tmp_path / name))
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG")
    call("advise", "--plot", str(tmp_path / "measured.svg"))
    assert "normface, best measured" in (tmp_path / "measured.svg").read_text()
    monkeypatch.setattr(maps_file, "IN_CLONE", tmp_path / "no clone" / "maps.csv")
    call("advise", "--plot", str(tmp_path / "plain.svg"))
    svg = (tmp_path / "plain.svg").read_text()
    assert "AdaAcos" in svg
    assert "best measured" not in svg


def test_maps_are_made_from_stored_runs_and_read_again(tmp_path: Path) -> None:
    def value(cell: object) -> float | None:
        hyper = cell.hyper  # type: ignore[attr-defined]
        if hyper.get("s") == 16.0 and hyper.get("m") == 0.3:
            return None
        return 0.8 + 0.1 * (hyper["s"] == 4.0) + 0.001 * cell.seed  # type: ignore[attr-defined]

    file = store_runs(tmp_path, GRID, value)
    target = tmp_path / "out" / "maps.csv"
    words = ["maps", str(file), "--results", str(tmp_path / "results"), "--to", str(target)]
    assert "(12 settings)" in call(*words)
    first = target.read_bytes()
    call(*words)
    assert target.read_bytes() == first
    assert list(target.parent.iterdir()) == [target]
    found = read_maps(target)
    assert found.about == {
        "experiment": "made",
        "measured": "2026-01-02",
        "versions": "Python 3.11.7; torch 2.13.0; NumPy 2.4.6; Machine Linux x86_64; Device cpu",
        "commit": "0123456789ab",
    }
    by_setting = {(row.dataset, row.setting): row for row in found.rows}
    digits = by_setting["digits", "normface s=4"]
    assert (digits.classes, digits.images_per_class, digits.dim, digits.protocol) == (10, 5.0, 4, "closed")
    assert (digits.metric, digits.mean, digits.seeds) == ("test/classification_accuracy", pytest.approx(0.901), 3)
    assert by_setting["glyphs", "normface s=4"].metric == "test/accuracy"
    gone = by_setting["glyphs", "arcface s=16 m=0.3"]
    assert (gone.mean, gone.seeds, gone.runs, gone.diverged, gone.s, gone.m) == (None, 0, 3, 3, 16.0, 0.3)


def test_without_runs_there_is_nothing_to_export(tmp_path: Path) -> None:
    def none(cell: object) -> float | None:
        raise KeyError

    file = store_runs(tmp_path, GRID, none)
    words = ["maps", str(file), "--results", str(tmp_path / "results"), "--to", str(tmp_path / "m")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, ValueError)
    assert "no run of made has a value" in str(done.exception)
    assert not (tmp_path / "m").exists()
