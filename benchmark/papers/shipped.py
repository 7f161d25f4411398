"""The paper tables that come with the benchmark, and how a name or path becomes one."""

from pathlib import Path

from benchmark.papers.loading import load_paper_file
from benchmark.papers.paper import Paper
from benchmark.spec.problems import did_you_mean, listed, shown
from benchmark.spec.scales import PAPERS
from benchmark.spec.shipped import SUFFIXES


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
        missing = f"there is no paper {shown(str(source))}{did_you_mean(source, known)}"
        raise ValueError(f"{missing} (there are {listed(known)}; or give the path of a .yaml file)")
    return load_paper_file(path)
