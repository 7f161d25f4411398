"""The paper tables that come with the benchmark, and how a name or path becomes one."""

from pathlib import Path

from benchmark.errors import InputError
from benchmark.papers.paper import Paper
from benchmark.papers.paper_file import load_paper_file
from benchmark.spec.builtin import PAPERS
from benchmark.spec.yaml_file import SUFFIXES
from datasets._names import unknown


def names() -> list[str]:
    """The shipped papers, sorted."""
    return sorted(path.stem for path in PAPERS.glob("*.yaml"))


def load(source: str | Path) -> Paper:
    """A shipped paper by its name, or any by the path of its file."""
    known = names()
    if source in known:
        return load_paper_file(PAPERS / f"{source}.yaml")
    path = Path(source)
    if path.suffix not in SUFFIXES:
        raise InputError(unknown("paper", str(source), known, "or give the path of a .yaml file"))
    return load_paper_file(path)
