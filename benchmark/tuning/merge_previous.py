"""Tuning some of an experiment's losses or datasets: what was tuned before of the others stays in the file."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.errors import InputError
from benchmark.spec import Budget
from benchmark.spec.tuned import TunedFile, read_tuned
from benchmark.tuning.study import Study

Place = tuple[str, str]
"""A dataset's label and a row's."""


@dataclass(frozen=True)
class Kept:
    """Rows of an earlier file, and what made them."""

    choices: Mapping[Place, dict[str, Any]] = field(default_factory=dict)
    made: tuple[dict[str, Any], ...] = ()
    trials: Mapping[Place, list[list[str]]] = field(default_factory=dict)


def kept_of(file: Path, trials: Path, every: Sequence[Study], now: Sequence[Study], budget: Budget) -> Kept:
    """What the file has of the experiment's other studies and still holds; ValueError where it is no match."""
    others = {place_of(study): study.key for study in every}
    for study in now:
        others.pop(place_of(study), None)
    if not others or not file.is_file():
        return Kept()
    earlier = read_tuned(file)
    choices = {
        (dataset, label): choice.model_dump(mode="json")
        for dataset, rows in earlier.choices.items()
        for label, choice in rows.items()
        if others.get((dataset, label)) == choice.of
    }
    if not choices:
        return Kept()
    if earlier.budget != budget:
        raise InputError(
            f"{file} has rows that were tuned with another budget, {_in_words(earlier)}: tune all losses with this "
            "one, or give another file with --output"
        )
    made = tuple(one.model_dump(mode="json") for one in (*earlier.earlier, earlier.made))
    return Kept(choices, made, _trials_of(trials, choices))


def place_of(study: Study) -> Place:
    return study.data.label, study.loss.label


def _in_words(tuned: TunedFile) -> str:
    return f"{tuned.budget.trials} trials of {tuned.budget.seeds} seed(s)"


def _trials_of(path: Path, places: Mapping[Place, Any]) -> dict[Place, list[list[str]]]:
    """The lines of trials.csv by their study; those of the places alone."""
    found: dict[Place, list[list[str]]] = {}
    if not path.is_file():
        return found
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (ValueError, csv.Error) as problem:
        raise InputError(f"{path} is not a list of trials: {problem}; remove it to tune all rows anew") from problem
    for line in lines:
        if len(line) > 2 and (line[0], line[1]) in places:
            found.setdefault((line[0], line[1]), []).append(line)
    return found
