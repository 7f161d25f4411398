"""The experiments that come with the benchmark, and how a name or path becomes an experiment.

A paper file has one for each scale of its table, named `table-<paper>-<scale>`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.errors import InputError
from benchmark.spec.experiment import Experiment
from benchmark.spec.experiment_file import load_file, read_experiment
from benchmark.spec.file_errors import FileErrors
from benchmark.spec.overrides import touches
from benchmark.spec.yaml_file import SHIPPED, SUFFIXES, read_document, read_text
from datasets._names import unknown

PAPERS = SHIPPED / "papers"
SCALES = ("smoke", "cpu", "full")
_OF_PAPER = re.compile(rf"table-([a-z0-9-]+)-({'|'.join(SCALES)})")


def names() -> list[str]:
    """The shipped experiments, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def describe(name: str) -> str:
    """The description of a shipped experiment."""
    return load(name).description


def load(source: str | Path | Experiment, overrides: Sequence[str] = ()) -> Experiment:
    """A shipped experiment by its name, or any by the path of its file; one that is loaded already is itself.

    `table-arcface-cpu` is the experiment of a paper's table at one of its scales. `overrides` are texts such as
    `recipe.epochs=1`, as in `--override`.
    """
    if isinstance(source, Experiment):
        return source
    known = names()
    if source in known:
        return load_file(SHIPPED / f"{source}.yaml", overrides)
    if of_paper := _find_scale(str(source), overrides):
        return of_paper
    path = Path(source)
    if path.suffix not in SUFFIXES:
        raise InputError(unknown("experiment", str(source), known, "or give the path of a .yaml file"))
    return load_file(path, overrides)


def _find_scale(name: str, overrides: Sequence[str]) -> Experiment | None:
    """The experiment of a shipped paper file; None if the name is of none."""
    match = _OF_PAPER.fullmatch(name)
    if match is None or not (path := PAPERS / f"{match[1]}.yaml").is_file():
        return None
    problems = FileErrors(path.name)
    data = read_document(read_text(path), problems)
    experiment = read_scale(data, path, match[2], problems, overrides)
    problems.raise_if_any()
    return experiment


def read_scale(
    data: Any, path: Path, scale: str, problems: FileErrors, overrides: Sequence[str] = ()
) -> Experiment | None:
    """The experiment below scales.<scale>.experiment; None, and the problems noted, where it is wrong or missing."""
    at = ("scales", scale, "experiment")
    for key in at:
        data = data.get(key) if isinstance(data, Mapping) else None
    inner = problems.below(at)
    if data is None:
        inner.add((), "is missing")
        return None
    if isinstance(data, Mapping) and ("name" in data or touches(overrides, "name")):
        inner.add(("name",), "should be left out: the name is made from the file's and the scale's")
        return None
    return read_experiment(data, path, inner, f"table-{path.stem}-{scale}", overrides)
