"""A file of tuned settings: what `tune` chose for each row on each dataset, and with which budget. Not trusted."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from benchmark.errors import InputError
from benchmark.recipe import Recipe
from benchmark.spec.dataset_rows import DatasetRow
from benchmark.spec.file_errors import FileErrors, KeyPath
from benchmark.spec.loss_rows import LossRow
from benchmark.spec.values import Keys, Label, OneOrMany
from benchmark.spec.yaml_file import SHIPPED, SUFFIXES, read_document, read_text
from datasets._names import shown, unknown

FOLDER = SHIPPED / "tuned"
Rate = Annotated[float, Field(gt=0.0, le=1000.0)]
Score = Annotated[float, Field(ge=0.0, le=1.0)]
Word = Annotated[str, Field(max_length=200)]


def _different(rates: tuple[float, ...]) -> tuple[float, ...]:
    if len(set(rates)) < len(rates):
        raise PydanticCustomError("rates", "should be different learning rates")
    return rates


class Budget(Keys):
    """How much tuning may try, the same for every loss on every dataset."""

    trials: Annotated[int, Field(ge=1, le=1_000)] = 12
    """Settings that are tried for a loss on a dataset."""
    seeds: Annotated[int, Field(ge=1, le=100)] = 2
    """Training seeds per trial, from 0 on."""
    learning_rates: Annotated[OneOrMany[Rate], AfterValidator(_different)] | None = None
    """Learning rates to try. Default: a range around the recipe's."""


class Made(Keys):
    """What made the file."""

    date: Word
    marginbench: Word
    python: Word
    torch: Word
    optuna: Word | None
    commit: Word | None


class Choice(Keys):
    """What was chosen for one row on one dataset."""

    hyper: dict[str, Any]
    lr: Rate
    trial: Annotated[int, Field(ge=0)]
    validation: Score | None  # the chosen trial's score; None if no trial trained
    before: Score | None  # the score of the experiment's own setting; None if it was not tried, or did not train
    of: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]  # what was tuned; see `fingerprint`


class TunedFileKeys(Keys):
    experiment: Label
    made: dict[str, Any]
    earlier: list[Any] = []
    budget: dict[str, Any]
    sampler: Word
    pruning: Word
    datasets: dict[str, Any]


@dataclass(frozen=True)
class TunedFile:
    """A checked file. `with_tuned` checks that its rows and settings belong to an experiment."""

    path: Path
    experiment: str
    made: Made
    budget: Budget
    sampler: str
    pruning: str
    choices: Mapping[str, Mapping[str, Choice]]  # by the dataset's label and the row's
    earlier: tuple[Made, ...] = ()  # what made rows that a later tuning of other losses left as they were


def find_tuned(source: str, beside: Path) -> Path:
    """The path of a file named relative to a folder, or of one that comes with the benchmark."""
    path = Path(source)
    if path.suffix in SUFFIXES:
        return beside / path
    known = sorted(found.stem for found in FOLDER.glob("*.yaml"))
    if source not in known:
        raise InputError(unknown("file of tuned settings", source, known, "or give the path of a .yaml file"))
    return FOLDER / f"{source}.yaml"


def read_tuned(path: Path) -> TunedFile:
    """ValueError names everything that is wrong, with its line and key."""
    problems = FileErrors(path.name)
    data = read_document(read_text(path), problems)
    keys = problems.check(TunedFileKeys, data, ())
    problems.raise_if_any()
    assert keys is not None
    made = problems.check(Made, keys.made, ("made",))
    earlier = [problems.check(Made, one, ("earlier", place)) for place, one in enumerate(keys.earlier)]
    budget = problems.check(Budget, keys.budget, ("budget",))
    choices = {dataset: _read_choices(rows, ("datasets", dataset), problems) for dataset, rows in keys.datasets.items()}
    if not choices:
        problems.add(("datasets",), "should not be empty")
    problems.raise_if_any()
    assert made is not None
    assert budget is not None
    before = tuple(one for one in earlier if one is not None)
    return TunedFile(path, keys.experiment, made, budget, keys.sampler, keys.pruning, choices, before)


def _read_choices(rows: Any, at: KeyPath, problems: FileErrors) -> dict[str, Choice]:
    if not isinstance(rows, Mapping) or not rows:
        problems.add(at, f"should be a mapping from rows to their settings, not {shown(rows)}")
        return {}
    found = {row: problems.check(Choice, given, (*at, row)) for row, given in rows.items()}
    return {row: choice for row, choice in found.items() if choice is not None}


def fingerprint(data: DatasetRow, backbone: str, dim: int, recipe: Recipe, loss: LossRow) -> str:
    """A hash of everything that a choice depends on: other data, training or pinned settings need their own tuning."""
    parts = {
        "dataset": dict(data.dataset),
        "backbone": backbone,
        "dim": dim,
        "recipe": recipe.description(),
        "loss": loss.name,
        "hyper": dict(loss.hyper),
        "pinned": sorted(loss.pinned),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
