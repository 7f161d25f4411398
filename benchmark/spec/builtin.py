"""The experiments that come with the benchmark, and how a name or path becomes an experiment."""

from pathlib import Path

from benchmark.errors import InputError
from benchmark.spec.experiment import Experiment
from benchmark.spec.experiment_file import load_file
from benchmark.spec.scales import FOLDER, find_scale
from datasets._names import unknown

SUFFIXES = (".yaml", ".yml")


def names() -> list[str]:
    """The shipped experiments, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def describe(name: str) -> str:
    """The description of a shipped experiment."""
    return load(name).description


def load(source: str | Path | Experiment) -> Experiment:
    """A shipped experiment by its name, or any by the path of its file; one that is loaded already is itself.

    `table-arcface-cpu` is the experiment of a paper's table at one of its scales.
    """
    if isinstance(source, Experiment):
        return source
    known = names()
    if source in known:
        return load_file(FOLDER / f"{source}.yaml")
    of_paper = find_scale(str(source))
    if of_paper is not None:
        return of_paper
    path = Path(source)
    if path.suffix not in SUFFIXES:
        raise InputError(unknown("experiment", str(source), known, "or give the path of a .yaml file"))
    return load_file(path)
