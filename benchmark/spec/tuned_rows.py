"""An experiment with tuned rows: beside, or in place of, every row that a file of tuned settings covers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import losses as registry
from benchmark.errors import InputError
from benchmark.spec.dataset_rows import DatasetRow
from benchmark.spec.experiment import Experiment
from benchmark.spec.file_errors import FileErrors
from benchmark.spec.loss_rows import LossRow, TunedSetting, read_hyper, unlike_defaults
from benchmark.spec.tuned import TunedFile, fingerprint
from benchmark.spec.values import TUNED
from datasets._names import did_you_mean, listed, shown

TUNED_ROWS = ("both", "only")
"""Tuned rows beside the experiment's own, or in their place; a row that is not tuned everywhere stays."""


def with_tuned(experiment: Experiment, tuned: TunedFile, rows: str = "both") -> Experiment:
    """ValueError says what in the file is not this experiment's."""
    if rows not in TUNED_ROWS:
        raise InputError(f"tuned rows {shown(rows)}: expected one of {listed(TUNED_ROWS)}")
    plain = experiment.without_tuned
    problems = FileErrors(tuned.path.name)
    settings = _checked(plain, tuned, problems)
    problems.raise_if_any()
    gone = {row.label for row in plain.losses if rows == "only" and _is_tuned_everywhere(plain, row, settings)}
    stay = {row.label for row in plain.losses} - gone
    mark = TUNED if stay else ""  # without untuned rows there is nothing to distinguish
    names = Counter(row.brief for row in plain.losses)
    made = {}
    for row in plain.losses:
        if row.label in settings:
            name = row.brief if row.brief and names[row.brief] == 1 else row.label
            made[row.label] = replace(row, label=f"{name}{mark}", tuned=settings[row.label], of=row.label)
    clash = sorted({row.label for row in made.values()} & stay)
    if clash:
        raise InputError(f"{plain.name} has a row labelled {shown(clash[0])} already; rename it")
    both = [one for row in plain.losses for one in (row if row.label in stay else None, made.get(row.label))]
    losses = tuple(row for row in both if row is not None)
    baseline = made[plain.baseline].label if plain.baseline in gone else plain.baseline
    return replace(plain, losses=losses, baseline=baseline, tuned=tuned, plain=plain)


def _is_tuned_everywhere(plain: Experiment, row: LossRow, settings: Mapping[str, Mapping[str, TunedSetting]]) -> bool:
    trained_on = {data.label for data in plain.datasets if data.losses is None or row.label in data.losses}
    return trained_on <= settings.get(row.label, {}).keys()


def one_training(data: DatasetRow) -> bool:
    """Whether the dataset is trained on in one way only: nothing else can be tuned."""
    return len(data.backbones) == len(data.dims) == len(data.recipes) == 1


def _checked(plain: Experiment, tuned: TunedFile, problems: FileErrors) -> dict[str, dict[str, TunedSetting]]:
    """By the row's label, then by the dataset's."""
    found: dict[str, dict[str, TunedSetting]] = {}
    every = [(dataset, *item) for dataset, rows in tuned.choices.items() for item in rows.items()]
    for dataset, label, choice in every:
        at = ("datasets", dataset)
        data = [row for row in plain.datasets if row.label == dataset]
        if not data:
            problems.add(at, _unknown("dataset", dataset, plain, [row.label for row in plain.datasets]))
            continue
        loss = next((row for row in plain.losses if row.label == label), None)
        if loss is None:
            problems.add((*at, label), _unknown("row", label, plain, [row.label for row in plain.losses]))
            continue
        values = read_hyper(loss.name, choice.hyper, (*at, label, "hyper"), problems)
        if len(data) > 1 or not one_training(data[0]):
            problems.add(at, f"{plain.name} trains on it in several ways; settings are tuned for one")
        elif choice.of != fingerprint(data[0], data[0].backbones[0], data[0].dims[0], data[0].recipes[0], loss):
            problems.add((*at, label), f"was tuned with other data, training or pinned settings than {plain.name} has")
        elif any(isinstance(value, list) for value in choice.hyper.values()) or any(not one for one in values.values()):
            problems.add((*at, label, "hyper"), "should have one value for each name")
        elif at_odds := _unlike_pinned(loss, {key: one[0] for key, one in values.items()}):
            problems.add((*at, label, "hyper"), f"{at_odds}, but {plain.name} gives this row another value")
        else:
            hyper = unlike_defaults(loss.name, {key: one[0] for key, one in values.items()})
            found.setdefault(label, {})[dataset] = TunedSetting(hyper, choice.lr)
    return found


def _unlike_pinned(row: LossRow, chosen: Mapping[str, Any]) -> str:
    """The settings, in words, that differ from what the row's entry gives: tuning leaves those alone."""
    declared = {key: one.default for key, one in registry.get(row.name).hyper.items()}
    ours, theirs = {**declared, **row.hyper}, {**declared, **chosen}
    return ", ".join(f"{key} is {shown(theirs[key])}" for key in sorted(row.pinned) if theirs[key] != ours[key])


def _unknown(noun: str, name: str, plain: Experiment, known: list[str]) -> str:
    return f"{plain.name} has no {noun} {shown(name)}{did_you_mean(name, known)} (there are {listed(known)})"
