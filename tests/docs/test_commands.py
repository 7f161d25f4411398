"""Every example of README.md and of the hand-written pages in docs/ runs, page by page, in a copy of the clone.

A block is a fenced `sh`, `bash`, `python` or `yaml` block. It runs in the order of its page:

- `python` and `yaml` whose first line is `# path` are files; they are written there. Every `yaml` block is a file.
- Other `python` blocks of a page run top to bottom in one namespace.
- `sh` runs line by line in bash. A line that would take minutes, needs a cluster or changes the machine is replaced by
  what RULES says; every other line runs as it is.
- `bash` is a script for a cluster; its syntax is checked.

Pages `adding_a_*.md` in docs/contributing are run by test_contributing.py. Generated pages are made of code that other
tests run.
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from benchmark.cli import app

CLONE = Path(__file__).parents[2]
GENERATED = ("_build", "claims", "losses", "papers", "reference")  # folders of docs/
CONTRIBUTING = "adding_a_*.md"
QUICK = ("README.md", "docs/reports.md", "docs/statistics.md")  # the others are run by make test-all
NOT_COPIED = (".*", "__pycache__", "_build", "tests", "*.egg-info")
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
FILE = re.compile(r"# (\S+\.(?:py|yaml))$")
SMALL_BOARD = "datasets: [digits]\nlosses: [normface]\nrecipe: {epochs: 1}\nseeds: 2\n"

SMALL_CARS = """
import numpy as np
from PIL import Image
from scipy.io import savemat
from pathlib import Path

Path("data/car_ims").mkdir(parents=True, exist_ok=True)
Image.new("RGB", (8, 8)).save("data/car_ims/000001.jpg")
Image.new("RGB", (8, 8)).save("data/car_ims/000002.jpg")
rows = [("car_ims/000001.jpg", 3), ("car_ims/000002.jpg", 196)]
savemat("data/cars_annos.mat", {"annotations": np.array(rows, dtype=[("relative_im_path", object), ("class", object)])})
"""


@dataclass(frozen=True)
class Rule:
    """What runs in place of a line that is too long or too large for a test."""

    line: str  # a pattern; it must match the whole line without its comment
    instead: str  # may use the pattern's groups
    why: str


WITHOUT_PICTURES = "pictures take most of the time; the README's `run smoke` and `run people.yaml` draw them"
RULES = (
    Rule(
        r"git clone <this repository> (\w+) && cd \1",
        rf"cd $(mktemp -d -p ..) && git clone -q '{CLONE}' \1 && cd \1",
        "no address yet",
    ),
    Rule(r"make bench", "make -n bench && python -m benchmark run default --dry-run", "trains for minutes"),
    Rule(r"make (test)", r"make -n \1", "runs this very test"),
    Rule(r"(python -m benchmark run default\b(?:(?! --dry-run| --tuned ).)*)", r"\1 --dry-run", "trains for minutes"),
    Rule(
        r"(.* run default) --tuned results/default/tuned.yaml(.*)",
        r"\1 --tuned benchmark/experiments/tuned/default.yaml\2 --dry-run",
        "trains for minutes; uses the committed settings",
    ),
    Rule(r"(python -m benchmark run faces.*)", r"\1 --dry-run", "needs data; trains for minutes"),
    Rule(r"(python -m benchmark tune default)", r"\1 --dry-run", "trains for an hour"),
    Rule(r"(.* --engine ray.*)", r"\1 --dry-run", "needs a cluster or a GPU; tests/benchmark/engine runs Ray"),
    Rule(
        r"(python -m benchmark run (?:bent|demo|my-experiment|retrieval|scales).yaml)",
        r"\1 --no-report",
        WITHOUT_PICTURES,
    ),
    Rule(r"(python -m benchmark report smoke)", r"\1 --no-pictures", WITHOUT_PICTURES),
    Rule(r"(make) (report EXPERIMENT=smoke)", r"\1 -n \2", WITHOUT_PICTURES),
    Rule(
        r"ray get-auth-token --generate",
        "python -m ray.scripts.scripts get-auth-token --help",
        "writes into the home folder",
    ),
    Rule(
        r"pip install (.*)", r"python -m pip install --dry-run --no-deps --no-index --no-build-isolation \1", "network"
    ),
    Rule(
        r"(python sort_cars.py .*)",
        r"python small-cars.py && \1 && ls data/cars/003/000001.jpg data/cars/196/000002.jpg",
        "needs data; two made-up cars",
    ),
    Rule(
        r"make leaderboard LOSS=(\w+)",
        r"make -n leaderboard LOSS=\1 && python -m benchmark leaderboard \1 --experiment small-board.yaml",
        "trains for minutes; a smaller board",
    ),
    Rule(
        r"make site",
        "make -n site && python -m benchmark leaderboard site --no-pictures",
        "pictures take half a minute; the site's own tests draw them",
    ),
    Rule(r"(make table-\w+)", r"\1 SCALE=smoke", "trains for minutes"),
    Rule(r"(make) (tables SCALE=smoke)", r"\1 -n \2", "takes minutes; make table-arcface runs one of them"),
    Rule(
        r"(.* table \w+) --scale full --data where/the/data/is (.*)",
        r"\1 --scale full --dry-run",
        "needs data and a GPU",
    ),
    Rule(
        r"(python -m benchmark claims --run)",
        r"\1 --losses normface --datasets digits --seeds 0 || test $? = 1",
        "trains for an hour; exits with 1, since most cells are missing",
    ),
)


@dataclass(frozen=True)
class Block:
    language: str
    text: str

    @property
    def runs(self) -> bool:
        return self.language in ("sh", "bash", "python", "yaml")

    @property
    def file(self) -> str | None:
        """Where it belongs, if it is a file."""
        found = FILE.match(self.text.splitlines()[0])
        return found[1] if found and self.language in ("python", "yaml") else None


def pages() -> list[Path]:
    docs = CLONE / "docs"
    elsewhere = {*(docs / "contributing").glob(CONTRIBUTING)}
    found = (page for page in docs.rglob("*.md") if page.relative_to(docs).parts[0] not in GENERATED)
    return [CLONE / "README.md", *sorted(page for page in found if page not in elsewhere)]


def blocks(page: Path) -> list[Block]:
    return [Block(language, text) for language, text in BLOCK.findall(page.read_text())]


def name_of(page: Path) -> str:
    return page.relative_to(CLONE).as_posix()


def lines(script: str) -> Iterator[str]:
    """Commands without their comments."""
    for line in script.replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+# .*", "", line).strip()
        if command:
            yield command


def as_run(line: str) -> str:
    """The line itself, or what the first rule that matches puts in its place."""
    for rule in RULES:
        if re.fullmatch(rule.line, line):
            return re.sub(rule.line, rule.instead, line)
    return line


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clone with an environment like that of `make`, and results of `smoke`."""
    folder = tmp_path_factory.mktemp("clone")
    for entry in CLONE.iterdir():
        if entry.is_file() and not entry.name.startswith("."):
            shutil.copyfile(entry, folder / entry.name)
    for name in ("benchmark", "losses", "datasets", "docs", "results/leaderboard", "results/reference"):
        shutil.copytree(CLONE / name, folder / name, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (folder / "small-board.yaml").write_text(SMALL_BOARD)
    (folder / "small-cars.py").write_text(SMALL_CARS)
    (folder / ".venv").mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name != ".ready":
            (folder / ".venv" / entry.name).symlink_to(entry)
    (folder / ".venv" / ".ready").touch()
    run(folder, "python -m benchmark run smoke --no-report")
    return folder


def run(copy: Path, script: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MARGINBENCH_")}
    environment = {**kept, "PATH": path, "PYTHONPATH": str(copy)}
    call = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(call, cwd=copy, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"


def run_page(page: Path, copy: Path) -> None:
    namespace: dict[str, Any] = {}
    for block in blocks(page):
        if block.file is not None:
            (copy / block.file).parent.mkdir(exist_ok=True)
            (copy / block.file).write_text(block.text)
        elif block.language == "sh":
            run(copy, "\n".join(map(as_run, lines(block.text))))
        elif block.language == "bash":
            subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)
        elif block.language == "python":
            with contextlib.chdir(copy), contextlib.redirect_stdout(None):
                exec(compile(block.text, str(page), "exec"), namespace)


@pytest.mark.xdist_group("commands")  # one copy for all of them
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if name_of(page) in QUICK else pytest.mark.slow, id=name_of(page))
        for page in pages()
        if any(block.runs for block in blocks(page))
    ],
)
def test_every_example_of_the_page_runs(page: Path, copy: Path) -> None:
    run_page(page, copy)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_block_is_of_a_kind_that_runs(page: Path) -> None:
    """An example in an unknown language, or a file without its place, would never be run."""
    for block in blocks(page):
        assert block.language in ("sh", "bash", "python", "yaml", "", "{toctree}"), block.language
        assert block.language != "yaml" or block.file, f"the first line should be '# name.yaml': {block.text}"
        if block.language == "":
            assert not re.search(r"^(?:python|make|pip|git|ray|import|from) ", block.text, re.MULTILINE), block.text


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_call_of_the_command_line_has_its_form(page: Path) -> None:
    """Quick for all pages: commands, options and their values exist, also in lines that a rule replaces."""
    for line in (line for block in blocks(page) if block.language == "sh" for line in lines(block.text)):
        for call in re.findall(r"python -m benchmark ((?:[^|&]|\|\|)*)", f"{line} && {as_run(line)}"):
            parse(call.split(" || ")[0])


def parse(call: str) -> None:
    """Click's own error tells what is wrong; nothing is executed."""
    words = [word for word in shlex.split(call) if word != "--help"]
    command: Any = typer.main.get_command(app)
    context = None
    while hasattr(command, "resolve_command"):
        if not words:
            return  # the help of a group
        context = command.make_context("benchmark", words, parent=context)
        _, command, words = command.resolve_command(context, [*context._protected_args, *context.args])
    command.make_context("benchmark", words, parent=context)


def test_a_wrong_option_is_found() -> None:
    parse("leaderboard bent --plugin bent.py")
    for call in ("run smoke --drie-run", "lst losses", "leaderboard verify --workers 2", "list lossses"):
        with pytest.raises(Exception, match="No such"):
            parse(call)


def test_every_rule_is_needed() -> None:
    """A rule that replaces nothing is out of date; one that shadows another is hard to see."""
    commands = {
        line for page in pages() for block in blocks(page) if block.language == "sh" for line in lines(block.text)
    }
    for rule in RULES:
        assert any(re.fullmatch(rule.line, line) for line in commands), rule
    for line in commands:
        assert sum(re.fullmatch(rule.line, line) is not None for rule in RULES) <= 1, line


def test_quick_pages_exist() -> None:
    assert set(QUICK) <= {name_of(page) for page in pages()}


def test_a_broken_example_is_found(copy: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\npython -m benchmark list lossses\n```\n")
    with pytest.raises(AssertionError, match="lossses"):
        run_page(page, copy)
    page.write_text("```python\nnumber = 1\n```\n\n```python\nassert number == 2\n```\n")
    with pytest.raises(AssertionError):
        run_page(page, copy)
