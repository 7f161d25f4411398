"""The `losses` of an experiment file: rows of its tables, each a loss with hyper-parameters and a label."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import losses
from benchmark.spec.entries import Kind, NamedItem, entries
from benchmark.spec.file_errors import FileErrors, KeyPath
from benchmark.spec.values import MOST_CELLS, Keys, Label, with_settings
from datasets._names import did_you_mean, listed, shown

ALL = "all"
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class TunedSetting:
    """What tuning chose for a row on one dataset."""

    hyper: Settings  # what differs from the loss's defaults
    lr: float


@dataclass(frozen=True)
class LossRow:
    label: str
    name: str
    hyper: Settings  # what differs from the loss's defaults
    pinned: frozenset[str] = field(default=frozenset(), compare=False)  # given in its entry: tuning leaves them alone
    tuned: Mapping[str, TunedSetting] | None = None  # by the dataset's label; a tuned row is trained on those alone
    of: str = ""  # a tuned row's: the label of the row that it is the tuned one of
    brief: str = field(default="", compare=False)  # the label with what is pinned alone


class BesideLoss(Keys):
    label: Label | None = None
    """How tables name the row. Default: the loss's name with the hyper-parameters given."""


def read_loss_rows(given: Any, overrides: Mapping[str, Any], problems: FileErrors) -> tuple[LossRow, ...]:
    """One row for each entry and each combination of its listed hyper-parameters.

    `overrides` is the file's key `hyper`: settings that a loss has wherever its entry does not say otherwise.
    """
    changed = _read_overrides(overrides, problems)
    kind = Kind("loss", [*losses.names(), ALL], list(BesideLoss.model_fields))
    rows: dict[str, LossRow] = {}
    for entry in entries(given, ("losses",), kind, problems):
        for one in _one_by_one(entry, problems):
            for row in _rows(one, changed.get(one.name, {}), problems):
                if rows.setdefault(row.label, row) != row:
                    problems.add(entry.at, f"two settings of losses have the label {shown(row.label)}; rename one")
    unused = set() if problems else changed.keys() - {row.name for row in rows.values()}
    for name in sorted(unused):
        problems.add(("hyper", name), f"{name} is not among the losses of this experiment")
    return tuple(rows.values())


def _read_overrides(overrides: Mapping[str, Any], problems: FileErrors) -> dict[str, dict[str, list[Any]]]:
    kind = Kind("loss", losses.names())
    found = [entry for item in overrides.items() for entry in entries(dict([item]), ("hyper",), kind, problems)]
    return {entry.name: read_hyper(entry.name, entry.settings, entry.settings_at, problems) for entry in found}


def _one_by_one(entry: NamedItem, problems: FileErrors) -> Iterator[NamedItem]:
    """`all` stands for an entry of each loss."""
    if entry.name != ALL:
        yield entry
    elif entry.settings or entry.beside:
        problems.add(entry.at, "'all' takes no settings and no label; give losses their own under the key hyper")
    else:
        yield from (NamedItem(name, {}, entry.at, {}, entry.at) for name in losses.names())


def _rows(entry: NamedItem, changed: Mapping[str, list[Any]], problems: FileErrors) -> Iterator[LossRow]:
    beside = problems.check(BesideLoss, entry.beside, entry.at)
    own = read_hyper(entry.name, entry.settings, entry.settings_at, problems)
    choices = {**changed, **own}
    if prod(map(len, choices.values())) > MOST_CELLS:
        problems.add(entry.settings_at, f"the lists combine to more than {MOST_CELLS:,} settings")
        return
    for values in product(*choices.values()):
        settings = dict(zip(choices, values, strict=True))
        label = with_settings(entry.name, settings)
        brief = with_settings(entry.name, {key: value for key, value in settings.items() if key in own})
        if beside is not None and beside.label is not None:
            varying = {key: value for key, value in settings.items() if len(choices[key]) > 1}
            label = brief = with_settings(beside.label, varying)
        yield LossRow(label, entry.name, unlike_defaults(entry.name, settings), frozenset(own), brief=brief)


def read_hyper(loss: str, given: Settings, at: KeyPath, problems: FileErrors) -> dict[str, list[Any]]:
    """Each hyper-parameter as the list of its values, those that the loss refuses left out."""
    declared = losses.get(loss).hyper
    found: dict[str, list[Any]] = {}
    for key, value in given.items():
        if key not in declared:
            takes = f"{loss} has no hyper-parameter {shown(key)}; it takes {listed(declared)}"
            problems.add((*at, key), f"{takes}{did_you_mean(key, list(declared))}")
            continue
        if value == []:
            problems.add((*at, key), "should not be an empty list")
        found[key] = _sound_values(declared[key], value, (*at, key), problems)
    return found


def _sound_values(hyper: Any, value: Any, at: KeyPath, problems: FileErrors) -> list[Any]:
    sound: dict[tuple[type, Any], Any] = {}
    for index, one in enumerate(value if isinstance(value, list) else [value]):
        if hyper.accepts(one):
            canonical = _canonical(hyper, one)
            sound[type(canonical), canonical] = canonical
        else:
            hint = did_you_mean(one, [name for name in getattr(hyper, "options", ()) if isinstance(name, str)])
            where = (*at, index) if isinstance(value, list) else at
            problems.add(where, f"{shown(one)} is not allowed; {at[-1]} is {hyper.allowed()}{hint}")
    return list(sound.values())


def _canonical(hyper: Any, value: Any) -> Any:
    """16 is written 16.0 where a real number is wanted, so that both are the same cell."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and hyper.accepts(float(value)) else value


def unlike_defaults(loss: str, settings: Settings) -> dict[str, Any]:
    declared = losses.get(loss).hyper
    return {key: value for key, value in settings.items() if value != declared[key].default}
