"""The experiments that come with the benchmark, and how a name or path becomes an experiment."""

from pathlib import Path

from benchmark.spec.experiment import Experiment
from benchmark.spec.loading import load_file
from benchmark.spec.problems import did_you_mean, listed, shown

FOLDER = Path(__file__).parent.parent / "experiments"
SUFFIXES = (".yaml", ".yml")


def names() -> list[str]:
    """The shipped experiments, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def describe(name: str) -> str:
    """The description of a shipped experiment."""
    return load(name).description


def load(source: str | Path) -> Experiment:
    """A shipped experiment by its name, or any by the path of its file."""
    known = names()
    if source in known:
        return load_file(FOLDER / f"{source}.yaml")
    path = Path(source)
    if path.suffix not in SUFFIXES:
        missing = f"there is no experiment {shown(str(source))}{did_you_mean(source, known)}"
        raise ValueError(f"{missing} (there are {listed(known)}; or give the path of a .yaml file)")
    return load_file(path)
