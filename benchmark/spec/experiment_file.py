"""From an experiment file to a checked `Experiment`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

import losses as loss_registry
from benchmark.cell import Resources
from benchmark.spec.dataset_rows import BackboneName, DatasetRow, Training, read_dataset_rows
from benchmark.spec.experiment import Experiment
from benchmark.spec.file_errors import FileErrors
from benchmark.spec.loss_rows import LossRow, read_loss_rows
from benchmark.spec.overrides import apply_overrides
from benchmark.spec.recipes import read_choices
from benchmark.spec.tuned import Budget, find_tuned, read_tuned
from benchmark.spec.tuned_rows import TUNED_ROWS, with_tuned
from benchmark.spec.values import MOST_CELLS, Dim, Keys, OneOrMany, ResourceKeys, Seeds, one_of
from benchmark.spec.yaml_file import read_document, read_text
from datasets._names import did_you_mean, listed, shown

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?")
NAME_IN_WORDS = "letters, digits, '-', '_' and inner '.', beginning with a letter or digit, at most 64 characters"
USUAL_BASELINE = "normface"


class ExperimentKeys(Keys):
    name: str | None = None
    """The experiment's name, which is also the name of its results folder. Default: the name of the file."""
    description: str = ""
    """One sentence about the experiment. `list experiments` and the report show it."""
    baseline: str | None = None
    """The label of the row that all other rows are compared with; the name of a loss is enough if it has one row.
    Default: normface if it has exactly one row, else the first row."""
    seeds: Seeds = (0, 1, 2, 3, 4)
    """Training seeds: a count (`5` means 0 to 4) or a list. Tests of differences need at least five."""
    datasets: Any
    """The datasets to train and test on."""
    backbone: OneOrMany[BackboneName] = ("convnet",)
    """The network that turns images into embeddings."""
    dim: OneOrMany[Dim] = (64,)
    """Dimensions of the embeddings."""
    recipe: dict[str, Any] = Field(default_factory=dict)
    """How networks are trained, the same for every loss. A dataset may change single keys."""
    losses: Any
    """The losses to compare. `all` stands for every registered loss."""
    hyper: dict[str, Any] = Field(default_factory=dict)
    """Hyper-parameters by the name of the loss, for all its rows: `arcface: {s: auto}`. A row's own values win."""
    tune: dict[str, Any] = Field(default_factory=dict)
    """The budget of `tune`, the same for every loss on every dataset."""
    tuned: str | None = None
    """Settings that `tune` chose: the path of a .yaml file, or the name of a file that comes with MarginBench. Losses
    that the file covers get a tuned row."""
    tuned_rows: Annotated[str, one_of("choice of rows", TUNED_ROWS)] = "both"
    """Whether tuned rows stand beside the untuned ones (`both`) or replace them (`only`)."""
    resources: dict[str, Any] = Field(default_factory=dict)
    """What a cell reserves on a Ray cluster. It does not change results."""


def load_file(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """ValueError names everything that is wrong, with its line and key. `overrides` are as in `--override`."""
    problems = FileErrors(path.name)
    data = read_document(read_text(path), problems)
    experiment = read_experiment(data, path, problems, overrides=overrides)
    problems.raise_if_any()
    assert experiment is not None
    return experiment


def read_experiment(
    data: Any, path: Path, problems: FileErrors, name: str | None = None, overrides: Sequence[str] = ()
) -> Experiment | None:
    """The experiment that a mapping describes; None, and the problems noted, where it is wrong.

    It is called `name` unless it says otherwise itself; without either, as its file.
    """
    before = len(problems)
    data = apply_overrides(data, overrides, problems)
    if not isinstance(data, Mapping):
        allowed = listed(ExperimentKeys.model_fields)
        problems.add((), f"an experiment should be a mapping with the keys {allowed}, not {shown(data)}")
        return None
    # A wrong value at the top should not hide what is wrong below it.
    keys = problems.check(ExperimentKeys, data, ()) or ExperimentKeys.model_construct(**_sound(data))
    training = Training(keys.backbone, keys.dim, read_choices(keys.recipe, ("recipe",), problems))
    losses = read_loss_rows(keys.losses, keys.hyper, problems) if "losses" in data else ()
    rows = read_dataset_rows(keys.datasets, training, losses, problems) if "datasets" in data else ()
    budget = problems.check(Budget, keys.tune, ("tune",))
    name = _name(name if keys.name is None else keys.name, path, problems)
    wanted = problems.check(ResourceKeys, keys.resources, ("resources",))
    if wanted is None or budget is None or len(problems) > before:
        return None
    baseline = _baseline(keys.baseline, losses, problems)
    _check_size(rows, losses, keys.seeds, problems)
    _check_smoothing(rows, losses, problems)
    if len(problems) > before:
        return None
    resources, described = Resources(wanted.cpus, wanted.gpus), keys.description.strip()
    plain = Experiment(
        name,
        described,
        baseline,
        path,
        rows,
        losses,
        keys.seeds,
        budget,
        resources=resources,
        overrides=tuple(overrides),
    )
    return plain if keys.tuned is None else _tuned(plain, keys.tuned, keys.tuned_rows, problems)


def _tuned(plain: Experiment, source: str, shown_rows: str, problems: FileErrors) -> Experiment | None:
    try:
        return with_tuned(plain, read_tuned(find_tuned(source, plain.path.parent)), shown_rows)
    except ValueError as problem:
        first = str(problem).partition("\n")[0]
        hint = f"{first}\nadd --override tuned=null to leave the tuned rows out" if plain.overrides else ""
        problems.add(("tuned",), hint or str(problem))
        return None


def _sound(data: Mapping[str, Any]) -> dict[str, Any]:
    """What can be looked into, although something at the top is wrong."""
    mappings = {key: data[key] for key in ("recipe", "hyper", "resources") if isinstance(data.get(key), dict)}
    return {**mappings, "datasets": data.get("datasets"), "losses": data.get("losses")}


def _name(given: str | None, path: Path, problems: FileErrors) -> str:
    name = path.stem if given is None else given
    if not NAME.fullmatch(name):
        source = "the file's name is the experiment's unless a name is given; it" if given is None else "a name"
        problems.add(("name",), f"{source} should be of {NAME_IN_WORDS}, not {shown(name)}")
    return name


def _baseline(given: str | None, rows: tuple[LossRow, ...], problems: FileErrors) -> str:
    """A row's label. A loss's name will do where it has one row; without any: normface's, or the first."""
    labels = [row.label for row in rows]
    if given in labels:
        return str(given)
    named = [row.label for row in rows if row.name == (given or USUAL_BASELINE)]
    if given is None:
        return named[0] if len(named) == 1 else labels[0]
    if len(named) != 1:
        wrong = f"{shown(given)} has {len(named)} rows; name one" if named else f"no row is named {shown(given)}"
        hint = "" if named else did_you_mean(given, labels)
        problems.add(("baseline",), f"{wrong}{hint} (there are {listed(named or labels)})")
    return named[0] if named else ""


def _check_size(
    rows: tuple[DatasetRow, ...], losses: tuple[LossRow, ...], seeds: tuple[int, ...], problems: FileErrors
) -> None:
    trainings = sum(len(row.backbones) * len(row.dims) * len(row.recipes) for row in rows)
    count = trainings * len(losses) * len(seeds)
    if count > MOST_CELLS:
        parts = f"{len(losses):,} losses × {len(seeds):,} seeds × {trainings:,} datasets, backbones and recipes"
        problems.add((), f"expands into {count:,} cells ({parts}), more than {MOST_CELLS:,}; shorten its lists")


def _check_smoothing(rows: tuple[DatasetRow, ...], losses: tuple[LossRow, ...], problems: FileErrors) -> None:
    if not any(recipe.label_smoothing for row in rows for recipe in row.recipes):
        return
    for name in sorted({row.name for row in losses}):
        if not loss_registry.get(name).is_cross_entropy:
            problems.add(
                ("recipe", "label_smoothing"), f"{name} is not a cross-entropy loss: it has no label smoothing"
            )
