"""The pages on adding a component: with the one file of their example, their commands work in a copy of the clone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[2]
PAGES = sorted((CLONE / "docs" / "contributing").glob("adding_a_*.md"))
COPIED = ("benchmark", "losses", "datasets", "marginbench.py", "pyproject.toml")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REGISTRIES = {
    "adding_a_metric": CLONE / "benchmark" / "metrics" / "_registry.py",
    "adding_a_leaderboard_column": CLONE / "benchmark" / "leaderboard" / "columns",
}
KINDS = ("backbone", "dataset", "leaderboard_column", "loss", "metric", "plot")


def test_every_kind_of_component_has_a_page() -> None:
    assert [page.stem.removeprefix("adding_a_") for page in PAGES] == list(KINDS)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The clone's packages and the leaderboard's entries, and no results of runs."""
    for name in COPIED:
        source = CLONE / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, tmp_path / name)
    shutil.copytree(CLONE / "results" / "leaderboard", tmp_path / "results" / "leaderboard")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_works(page: Path, copy: Path) -> None:
    if page.stem in REGISTRIES and not REGISTRIES[page.stem].exists():
        pytest.skip(f"{REGISTRIES[page.stem].relative_to(CLONE)} is not there yet")
    blocks = BLOCK.findall(page.read_text())
    files = [text for language, text in blocks if language in ("python", "yaml")]
    assert sum(text.startswith(("# losses/", "# datasets/", "# benchmark/")) for text in files) == 1
    for text in files:
        (copy / text.splitlines()[0].removeprefix("# ")).write_text(text)
    commands = next(text for language, text in blocks if language == "sh")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=copy, env={**os.environ, "PATH": path, "PYTHONPATH": str(copy)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_is_clean(page: Path, tmp_path: Path) -> None:
    (code,) = (text for language, text in BLOCK.findall(page.read_text()) if language == "python")
    file = tmp_path / Path(code.splitlines()[0]).name
    file.write_text(code)
    for words in (["check"], ["format", "--check"]):
        call = [sys.executable, "-m", "ruff", *words, "--config", str(CLONE / "pyproject.toml"), str(file)]
        done = subprocess.run(call, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
