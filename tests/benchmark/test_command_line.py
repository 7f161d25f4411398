"""Wrong calls end in one readable message and exit 2; lists and dry runs say what there is."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def call(*words: str, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "defalt"], "default"),
        (["run", "smoke", "--losses", "arcfase"], "arcface"),
        (["run", "smoke", "--datasets", "digit"], "digits"),
        (["run", "smoke", "--seeds", "0,x"], "expected numbers"),
        (["run", "smoke", "--plugin", "nowhere.py"], "there is no plug-in file"),
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["score", "smoke", "--results", "nowhere"], "run the experiment first"),
        (["report", "smoke", "--results", "nowhere"], "run `python -m benchmark run smoke` first"),
        (["report", "defalt"], "default"),
        (["audit", "arcfase"], "did you mean 'arcface'"),
        (["run", "smoke", "--device", "tpu"], "expected 'cpu', 'cuda'"),
    ],
)
def test_wrong_calls(words: list[str], message: str) -> None:
    done = call(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_data_says_where_it_looked_and_how_to_get_it(tmp_path: Path) -> None:
    file = tmp_path / "missing.yaml"
    file.write_text("datasets: [cifar10]\nlosses: [normface]\nseeds: 1\n")
    done = call("run", str(file), "--data", str(tmp_path / "data"), "--results", str(tmp_path / "results"))
    assert done.returncode == 2
    assert str(tmp_path / "data") in done.stderr
    assert "download" in done.stderr
    assert "Traceback" not in done.stderr


def test_dry_run_trains_nothing(tmp_path: Path) -> None:
    done = call("run", "smoke", "--dry-run", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 13
    assert lines[0].startswith("digits · convnet/16 · ")
    assert lines[-1].startswith("12 cells")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("what", "word"),
    [("losses", "arcface"), ("datasets", "glyphs"), ("backbones", "convnet"), ("experiments", "default")],
)
def test_lists(what: str, word: str) -> None:
    done = call("list", what)
    assert done.returncode == 0, done.stderr
    assert word in done.stdout


def test_help_has_examples() -> None:
    for command in ("run", "audit", "report", "score", "new-loss", "advise", "maps"):
        assert f"python -m benchmark {command}" in call(command, "--help").stdout


def test_another_package_called_datasets_is_named(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "__init__.py").write_text("")
    code = "import sys; sys.argv = ['marginbench', 'list', 'losses']; from benchmark.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        cwd=PROJECT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "`import datasets` finds" in done.stderr
    assert str(tmp_path) in done.stderr
