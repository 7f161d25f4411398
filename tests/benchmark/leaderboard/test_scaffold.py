"""The template of a new loss: short, clean, sound; names that will not do are refused."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import losses
from benchmark.audit import audit
from benchmark.leaderboard.scaffold import write_template
from benchmark.plugins import load_plugin

PROJECT = Path(__file__).parents[3]


def test_the_template_is_a_working_loss_of_less_than_30_lines(tmp_path: Path) -> None:
    path = write_template("scaffold_test", tmp_path)
    lines = path.read_text().splitlines()
    assert len(lines) < 30
    assert ast.get_docstring(ast.parse(path.read_text()))
    assert sum("#" in line for line in lines) >= 3
    try:
        assert load_plugin(path) == ["scaffold_test"]
        outcomes = list(audit(["scaffold_test"]))
        assert {outcome.verdict for outcome in outcomes} == {"pass"}, outcomes
    finally:
        losses._registry._losses.pop("scaffold_test", None)


def test_the_template_is_clean(tmp_path: Path) -> None:
    path = write_template("clean_one", tmp_path)
    for tool in (["ruff", "check"], ["mypy", "--strict"]):
        done = subprocess.run([sys.executable, "-m", *tool, str(path)], cwd=PROJECT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("arcface", "there is a loss named 'arcface' already"),
        ("My-Loss", "cannot be a loss's name"),
        ("MyLoss", "cannot be a loss's name"),
        ("9lives", "cannot be a loss's name"),
        ("_hidden", "cannot be a loss's name"),
        ("lambda", "cannot be a loss's name"),
        ("../escape", "cannot be a loss's name"),
        ("", "cannot be a loss's name"),
        ("a" * 41, "at most 40 characters"),
        ("größe", "cannot be a loss's name"),
        ("all", "has another meaning"),
        ("verify", "has another meaning"),
        ("number", "has another meaning"),
        ("names", "has another meaning"),
        ("tensor", "has another meaning"),
        ("target_only_head", "has another meaning"),
    ],
)
def test_names_that_will_not_do(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        write_template(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("precious")
    with pytest.raises(ValueError, match="exists already"):
        write_template("mine", tmp_path)
    assert path.read_text() == "precious"
