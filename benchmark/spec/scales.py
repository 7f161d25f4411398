"""The experiments inside paper files: one for each scale of a paper's table, named `table-<paper>-<scale>`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.spec.experiment import Experiment
from benchmark.spec.experiment_file import read_experiment
from benchmark.spec.file_errors import FileErrors
from benchmark.spec.yaml_file import read_document, read_text

FOLDER = Path(__file__).parent.parent / "experiments"
PAPERS = FOLDER / "papers"
SCALES = ("smoke", "cpu", "full")
_NAME = re.compile(rf"table-([a-z0-9-]+)-({'|'.join(SCALES)})")


def find_scale(name: str) -> Experiment | None:
    """The experiment of a shipped paper file; None if the name is of none."""
    match = _NAME.fullmatch(name)
    if match is None or not (path := PAPERS / f"{match[1]}.yaml").is_file():
        return None
    problems = FileErrors(path.name)
    data = read_document(read_text(path), problems)
    experiment = read_scale(data, path, match[2], problems)
    problems.raise_if_any()
    return experiment


def read_scale(data: Any, path: Path, scale: str, problems: FileErrors) -> Experiment | None:
    """The experiment below scales.<scale>.experiment; None, and the problems noted, where it is wrong or missing."""
    at = ("scales", scale, "experiment")
    for key in at:
        data = data.get(key) if isinstance(data, Mapping) else None
    inner = problems.below(at)
    if data is None:
        inner.add((), "is missing")
        return None
    if isinstance(data, Mapping) and "name" in data:
        inner.add(("name",), "should be left out: the name is made from the file's and the scale's")
        return None
    return read_experiment(data, path, inner, name=f"table-{path.stem}-{scale}")
