"""The whole way of a new loss: scaffold, edit, audit, run, a row; and without its file no row."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the project's rooms, so that the project itself is not touched."""
    for room in ("losses", "datasets", "benchmark"):
        shutil.copytree(PROJECT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)


def test_one_file_one_command_one_row(clone: Path) -> None:
    written = run(clone, "new-loss", "bent")
    assert written.returncode == 0, written.stderr
    file = clone / "losses" / "bent.py"
    assert f"{file} is a loss that works" in written.stdout

    text = file.read_text()
    file.write_text(text.replace("return cosine - self.m", "return cosine - self.m * (1.0 - cosine) ** 2"))
    assert file.read_text() != text
    audited = run(clone, "audit", "bent")
    assert audited.returncode == 0, audited.stdout

    board = ("--experiment", "smoke", "--workers", "1")
    entered = run(clone, "leaderboard", "bent", "normface", *board)
    assert entered.returncode == 0, entered.stderr
    assert "12 cells, 0 with a result, 12 to run" in entered.stderr
    assert "bent: place" in entered.stdout
    assert "Differences from normface s=16" in entered.stdout
    (entry,) = (clone / "results" / "smoke" / "entries").glob("bent-*.json")

    file.write_text(file.read_text().replace("number(0.2", "number(0.1"))
    again = run(clone, "leaderboard", "bent", *board)
    assert "6 cells, 0 with a result, 6 to run" in again.stderr  # an edited loss is run again, and it alone
    assert list((clone / "results" / "smoke" / "entries").glob("bent-*.json")) == [entry]

    file.unlink()
    without = run(clone, "leaderboard", "normface", *board)
    assert without.returncode == 0, without.stderr
    assert "bent" not in without.stdout
    assert f"not compared: {entry.name}: there is no loss bent in losses/ any more" in without.stderr
    entry.unlink()
    assert "bent" not in "".join(run(clone, "leaderboard", "normface", *board).stderr)
