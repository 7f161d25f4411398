"""The order of the entries. Only comparable entries are compared; they form a board.

Comparable entries have the same protocol version, datasets and backbones (by their digests), training and seeds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from benchmark.cell import PROTOCOL_VERSION
from benchmark.findings import AboutLoss, Findings
from benchmark.leaderboard.entries import Entry, EntryRun, Result, entry_name, in_order, short_hash
from benchmark.spec import Experiment, LossRow
from benchmark.spec.values import with_settings
from benchmark.statistics import Jackknife

Value = TypeVar("Value", int, str)


@dataclass(frozen=True)
class Board:
    """Entries that can be compared with each other."""

    entries: Mapping[str, Entry]  # by label, such as `arcface s=auto`
    baseline: str  # a label, which may have no entry

    @property
    def protocol(self) -> int:
        return next(iter(self.entries.values())).protocol

    @property
    def id(self) -> str:
        return board_id(next(iter(self.entries.values())))

    @cached_property
    def findings(self) -> Findings:
        """Means, intervals, ties and ranks. If the baseline has no entry, differences are from the first label."""
        baseline = self.baseline if self.baseline in self.entries else min(self.entries)
        return Findings(results(self.entries), baseline, jackknife(self.entries))

    @cached_property
    def order(self) -> list[str]:
        """Labels by their average rank over the datasets, best first; those without a rank come last."""
        ranked = [str(label) for label in self.findings.places.index]
        return [*ranked, *sorted(set(self.entries) - set(ranked))]

    @cached_property
    def about(self) -> dict[str, AboutLoss]:
        """What tables show of each entry beside its metrics, by label."""
        return {label: _about(entry) for label, entry in self.entries.items()}


@dataclass(frozen=True)
class Standings:
    """The board that fits the experiment, the other boards, and entries that no longer count."""

    current: Board | None
    others: list[Board] = field(default_factory=list)
    outdated: dict[str, str] = field(default_factory=dict)  # an entry's name → why it does not count


def _about(entry: Entry) -> AboutLoss:
    shown = {key: value for key, value in entry.settings.items() if key in (*entry.hyper, "s") or _is_number(value)}
    return AboutLoss(entry.label, entry.family, with_settings("", shown).strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def standings(
    entries: Mapping[str, Entry], experiment: Experiment, losses: Mapping[str, str], backbones: Mapping[str, str]
) -> Standings:
    """Sorts entries into boards. `losses` and `backbones` are digests of the present code: of this project's own
    losses and of all backbones, by name."""
    outdated = {name: reason for name, entry in entries.items() if (reason := _outdated(entry, losses, backbones))}
    alike: dict[str, dict[str, Entry]] = defaultdict(dict)
    for name, entry in sorted(entries.items()):
        if name not in outdated:
            alike[board_id(entry)][name] = entry
    groups = [_agreeing(group, outdated) for group in alike.values()]
    baseline = baseline_label(experiment)
    boards = [Board(group, baseline) for group in groups if group]
    asked = [board for board in boards if _is_asked_for(board, experiment)]
    current = max(asked, key=lambda board: (len(board.entries), board.id), default=None)
    others = sorted((board for board in boards if board is not current), key=lambda board: (-board.protocol, board.id))
    return Standings(current, others, outdated)


def _agreeing(group: Mapping[str, Entry], outdated: dict[str, str]) -> dict[str, Entry]:
    """The entries of a board by label. An entry that does not fit the others is left out, and `outdated` says why:
    no file may change the row of another one."""
    identities = _usual(pair for entry in group.values() for pair in _identities(entry))
    names = _usual((_key(result), result.label) for entry in group.values() for result in entry.results)
    found: dict[str, tuple[str, Entry]] = {}
    for name, entry in group.items():
        unlike = [count for key, count in _identities(entry) if count != identities[key]]
        if unlike:
            outdated[name] = f"it has {unlike[0]} test identities, unlike most entries on the same data"
        elif entry.label in found:
            outdated[name] = f"{found[entry.label][0]} has the same configuration, {entry.label}"
        else:
            found[entry.label] = (name, _renamed(entry, names))
    return {label: entry for label, (_, entry) in found.items()}


def _usual(pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """For each key the most frequent value; the first one if several are equally frequent."""
    counts: dict[str, Counter[Value]] = defaultdict(Counter)
    for key, value in pairs:
        counts[key][value] += 1
    return {key: counter.most_common(1)[0][0] for key, counter in counts.items()}


def _identities(entry: Entry) -> Iterable[tuple[str, int]]:
    for result in entry.results:
        for metric, rows in result.without_each_identity.items():
            yield from ((f"{_key(result)} {metric}", len(row)) for row in rows if row is not None)


def _key(result: Result) -> str:
    return short_hash(_with_digests(result))


def _with_digests(result: Result) -> dict[str, Any]:
    return {**result.setting(), "digest": result.digest, "backbone_digest": result.backbone_digest}


def _renamed(entry: Entry, names: Mapping[str, str]) -> Entry:
    """The entry with the dataset names of most entries; a name that two datasets share gets a hash."""
    shared = {name for name, count in Counter(names.values()).items() if count > 1}
    results = [
        result.model_copy(update={"label": names[key] if names[key] not in shared else f"{names[key]} ({key})"})
        for result, key in ((result, _key(result)) for result in entry.results)
    ]
    return entry.model_copy(update={"results": results})


def _outdated(entry: Entry, losses: Mapping[str, str], backbones: Mapping[str, str]) -> str:
    if entry.origin == "plug-in" and losses.get(entry.loss, entry.loss_digest) != entry.loss_digest:
        return f"it was made with a plug-in, but losses/ has its own loss named {entry.loss}"
    if entry.origin == "repository" and entry.loss not in losses:
        return f"there is no loss {entry.loss} in losses/ any more"
    again = f"`python -m benchmark leaderboard {entry.loss}` makes a new entry"
    if losses.get(entry.loss, entry.loss_digest) != entry.loss_digest:
        return f"the code of losses/{entry.loss}.py has changed since: {again}"
    for result in entry.results:
        if backbones.get(result.backbone, result.backbone_digest) != result.backbone_digest:
            return f"the code of the backbone {result.backbone} has changed since: {again}"
    return ""


def board_id(entry: Entry) -> str:
    parts = in_order([_with_digests(result) for result in entry.results])
    return short_hash({"protocol": entry.protocol, "settings": parts})


def settings_of(experiment: Experiment) -> list[dict[str, Any]]:
    """The settings of the results of an entry of this experiment."""
    found: dict[str, dict[str, Any]] = {}
    for cell in experiment.cells(losses=[experiment.losses[0].label]):
        about = cell.description()
        setting = {name: about[name] for name in ("dataset", "backbone", "dim", "recipe")}
        key = short_hash(setting)
        found.setdefault(key, {**setting, "seeds": set()})["seeds"].add(cell.seed)
    return [{**setting, "seeds": sorted(setting["seeds"])} for setting in found.values()]


def name_of(row: LossRow, experiment: Experiment) -> str:
    """The name of the entry for a row of the experiment, whether it exists or not."""
    return entry_name(row.name, row.hyper, PROTOCOL_VERSION, settings_of(experiment))


def baseline_label(experiment: Experiment) -> str:
    row = next(row for row in experiment.losses if row.label == experiment.baseline)
    return with_settings(row.name, row.hyper)


def _is_asked_for(board: Board, experiment: Experiment) -> bool:
    entry = next(iter(board.entries.values()))
    asked = in_order(settings_of(experiment))
    return board.protocol == PROTOCOL_VERSION and in_order([result.setting() for result in entry.results]) == asked


def results(entries: Mapping[str, Entry]) -> pd.DataFrame:
    """One row per run, as `benchmark.statistics` expects them."""
    rows = []
    for label, entry, result, place, run in _runs(entries):
        status = "ok" if run.diverged_at is None else "diverged"
        about = {"loss": label, "name": entry.loss, "dataset": result.label, "seed": run.seed, "status": status}
        rows.append(about | {name: values[place] for name, values in result.figures.items()})
    return pd.DataFrame(rows)


def jackknife(entries: Mapping[str, Entry]) -> Jackknife:
    """Each metric without each test identity, where entries have it."""
    found: dict[tuple[str, str, int], dict[str, np.ndarray]] = {}
    for label, _, result, place, run in _runs(entries):
        kept = {name: rows[place] for name, rows in result.without_each_identity.items()}
        arrays = {name: np.array(values) for name, values in kept.items() if values is not None}
        found[label, result.label, run.seed] = arrays
    return found


def _runs(entries: Mapping[str, Entry]) -> Iterable[tuple[str, Entry, Result, int, EntryRun]]:
    for label, entry in entries.items():
        for result in entry.results:
            yield from ((label, entry, result, place, run) for place, run in enumerate(result.runs))
