"""The `datasets` of an experiment file: each with its wrappers, and with the training that it gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

import datasets
from benchmark import backbones
from benchmark.recipe import Recipe
from benchmark.spec.entries import Kind, NamedItem, entries
from benchmark.spec.file_errors import FileErrors, KeyPath
from benchmark.spec.loss_rows import LossRow
from benchmark.spec.recipes import Choices, expand_recipes, read_choices
from benchmark.spec.values import Dim, Keys, Label, OneOrMany, Seed, one_of, with_settings
from datasets._names import did_you_mean, listed, shown

BackboneName = Annotated[str, one_of("backbone", backbones.names)]


@dataclass(frozen=True)
class Training:
    """What an experiment says of training; a dataset may say otherwise."""

    backbones: tuple[str, ...]
    dims: tuple[int, ...]
    choices: Choices


@dataclass(frozen=True)
class DatasetRow:
    label: str
    dataset: Mapping[str, Any]
    backbones: tuple[str, ...]
    dims: tuple[int, ...]
    recipes: tuple[Recipe, ...]
    access: Mapping[str, Any]  # options given that leave the data as it is, such as download
    losses: tuple[str, ...] | None = None  # labels of the rows that are trained on it; None: all

    @property
    def name(self) -> str:
        return str(self.dataset["name"])


class BesideDataset(Keys):
    wrappers: Any = ()
    """Changes to the dataset, applied in this order."""
    split_seed: Seed = 0
    """The seed of the split into train, val and test, and of the verification pairs. All losses and training seeds
    share it."""
    label: Label | None = None
    """How tables name the dataset. Default: its name with the options given."""
    backbone: OneOrMany[BackboneName] | None = None
    """The backbone for this dataset. Default: the experiment's."""
    dim: OneOrMany[Dim] | None = None
    """Dimensions of the embeddings for this dataset. Default: the experiment's."""
    recipe: dict[str, Any] = Field(default_factory=dict)
    """Keys of the recipe that are different for this dataset."""
    losses: OneOrMany[str] | None = None
    """The rows to train on this dataset: labels, or names of losses for all their rows. Default: all rows."""


def read_dataset_rows(
    given: Any, usual: Training, losses: Sequence[LossRow], problems: FileErrors
) -> tuple[DatasetRow, ...]:
    kind = Kind("dataset", datasets.names(), list(BesideDataset.model_fields))
    rows = []
    by_label: dict[str, Mapping[str, Any]] = {}
    for entry in entries(given, ("datasets",), kind, problems):
        row = _row(entry, usual, losses, problems)
        if row is None:
            continue
        if by_label.setdefault(row.label, row.dataset) != row.dataset:
            problems.add(entry.at, f"two different datasets have the label {shown(row.label)}; rename one")
        rows.append(row)
    return tuple(rows)


def _row(entry: NamedItem, usual: Training, losses: Sequence[LossRow], problems: FileErrors) -> DatasetRow | None:
    before = len(problems)
    beside = problems.check(BesideDataset, entry.beside, entry.at)
    _check_options(entry, problems, beside_keys=list(BesideDataset.model_fields))
    wrappers = _read_wrappers(entry, problems)
    if beside is None or len(problems) > before:
        return None
    recipe_at: KeyPath = (*entry.at, "recipe") if beside.recipe else ("recipe",)
    choices = {**usual.choices, **read_choices(beside.recipe, recipe_at, problems)}
    resolved = datasets.resolve(entry.name, wrappers=wrappers, **entry.settings)
    return DatasetRow(
        label=beside.label or _label(entry, wrappers, beside.split_seed),
        dataset={**resolved, "seed": beside.split_seed},
        backbones=beside.backbone or usual.backbones,
        dims=beside.dim or usual.dims,
        recipes=expand_recipes(choices, recipe_at, problems),
        access=_split_options(entry)[1],
        losses=_read_losses(beside.losses, losses, (*entry.at, "losses"), problems),
    )


def _read_losses(
    given: tuple[str, ...] | None, rows: Sequence[LossRow], at: KeyPath, problems: FileErrors
) -> tuple[str, ...] | None:
    """Labels of the rows that are named: one row by its label, or by a loss's name all rows of it."""
    if given is None or not rows:
        return None
    labels = [row.label for row in rows]
    known = list(dict.fromkeys([*labels, *(row.name for row in rows)]))
    for index, name in enumerate(given):
        if name not in known:
            unknown = f"there is no loss {shown(name)} in this experiment{did_you_mean(name, known)}"
            problems.add((*at, index), f"{unknown} (there are {listed(known)})")
    names = set(given) - set(labels)
    return tuple(row.label for row in rows if row.label in given or row.name in names)


def _read_wrappers(entry: NamedItem, problems: FileErrors) -> list[dict[str, Mapping[str, Any]]]:
    given = entry.beside.get("wrappers")
    if not given:
        return []
    found = entries(given, (*entry.at, "wrappers"), Kind("wrapper", datasets.wrapper_names()), problems)
    for wrapper in found:
        _check_options(wrapper, problems)
    return [{wrapper.name: wrapper.settings} for wrapper in found]


def _check_options(entry: NamedItem, problems: FileErrors, beside_keys: list[str] | None = None) -> None:
    declared = datasets.options(entry.name)
    for key, value in entry.settings.items():
        at = (*entry.settings_at, key)
        if key not in declared:
            misplaced = f"; {key!r} belongs beside {entry.name!r}, not below it" if key in (beside_keys or ()) else ""
            takes = f"{entry.name} has no option {shown(key)}; it takes {listed(declared)}"
            problems.add(at, takes + (misplaced or did_you_mean(key, list(declared))))
            continue
        try:
            declared[key].accept(value)
        except ValueError:
            message = f"{shown(value)} is not allowed; {key} is {declared[key].allowed()}"
            problems.add(at, message + did_you_mean(value, list(getattr(declared[key], "among", ()))))


def _split_options(entry: NamedItem) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options given that make the data what it is, and the incidental ones."""
    declared = datasets.options(entry.name)
    telling = {key: value for key, value in entry.settings.items() if not declared[key].incidental}
    return telling, {key: value for key, value in entry.settings.items() if key not in telling}


def _label(entry: NamedItem, wrappers: list[dict[str, Mapping[str, Any]]], split_seed: int) -> str:
    """`glyphs classes=100 + longtail ratio=50`."""
    first = _split_options(entry)[0] | ({"split_seed": split_seed} if split_seed else {})
    chain = [with_settings(name, given) for wrapper in wrappers for name, given in wrapper.items()]
    return " + ".join([with_settings(entry.name, first), *chain])
