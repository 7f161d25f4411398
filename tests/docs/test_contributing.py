"""Adding a component takes one file: the example of each page, dropped into a copy of the clone, needs nothing else."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("contributing")  # one copy for all of them
CLONE = Path(__file__).parents[2]
PAGES = sorted((CLONE / "docs" / "contributing").glob("adding_a_*.md"))
COPIED = ("benchmark", "losses", "datasets", "docs", "tests", "marginbench.py", "pyproject.toml")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KINDS = ("backbone", "dataset", "leaderboard_column", "loss", "metric", "plot", "wrapper")
ALL_OF_THEM = """\
description: A dataset, a backbone and a loss that one file each has added.
backbone: two_layers
dim: 8
seeds: 2
recipe: {epochs: 1, batch: 32}
datasets: [stripes]
losses: [normface, my_loss]
"""


def files_of(page: Path) -> dict[str, str]:
    """The page's files by their places, which their first lines give."""
    texts = [text for language, text in BLOCK.findall(page.read_text()) if language in ("python", "yaml")]
    return {text.splitlines()[0].removeprefix("# "): text for text in texts}


def component(page: Path) -> str:
    """The place of the one Python file."""
    (place,) = (name for name in files_of(page) if name.endswith(".py"))
    return place


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clone's packages and tests, and the file of every page; nothing else is edited."""
    folder = tmp_path_factory.mktemp("clone")
    for name in COPIED:
        source = CLONE / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        else:
            shutil.copyfile(source, folder / name)
    for name in ("leaderboard", "reference"):
        shutil.copytree(CLONE / "results" / name, folder / "results" / name)
    for page in PAGES:
        for place, text in files_of(page).items():
            (folder / place).write_text(text)
    return folder


def run(copy: Path, commands: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(copy)}
    call = ["bash", "-euo", "pipefail", "-c", commands]
    done = subprocess.run(call, cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_kind_of_component_has_a_page() -> None:
    assert [page.stem.removeprefix("adding_a_") for page in PAGES] == list(KINDS)


@pytest.mark.long
def test_the_contract_tests_hold_for_every_newcomer(copy: Path) -> None:
    names = [Path(component(page)).stem for page in PAGES]
    wanted = " or ".join(names)
    output = run(copy, f'python -m pytest -m contract -vv -p no:cacheprovider --ignore tests/docs -k "{wanted}" tests')
    assert " failed" not in output
    for name in names:
        assert re.search(rf"\[{name}\S*\] PASSED|\[\S*{name}\S*\] PASSED", output), f"no contract test ran for {name}"


def test_a_small_report_has_all_of_them(copy: Path) -> None:
    (copy / "newcomers.yaml").write_text(ALL_OF_THEM)
    run(copy, "python -m benchmark run newcomers.yaml")
    report = copy / "results" / "newcomers" / "report"
    assert "my_loss" in (report / "table.csv").read_text()
    assert "stripes" in (report / "table.csv").read_text()
    assert "two_layers" in (report / "index.html").read_text()
    assert "Norm" in (report / "index.html").read_text()
    assert (report / "figures" / "run_counts.png").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_the_page_work(page: Path, copy: Path) -> None:
    run(copy, next(text for language, text in BLOCK.findall(page.read_text()) if language == "sh"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_is_clean(page: Path, tmp_path: Path) -> None:
    file = tmp_path / Path(component(page)).name
    file.write_text(files_of(page)[component(page)])
    for words in (["check"], ["format", "--check"]):
        call = [sys.executable, "-m", "ruff", *words, "--config", str(CLONE / "pyproject.toml"), str(file)]
        done = subprocess.run(call, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
