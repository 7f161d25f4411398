"""Checks that the metrics of an entry follow from its embeddings, where these are stored here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmark.leaderboard.entries import Entry, Result, main_metrics
from benchmark.leaderboard.make_entry import DECIMALS, embeddings_digest, metrics_without_each_identity, stored_run
from benchmark.rescore import recomputed
from benchmark.store import Run, Store
from benchmark.text import counted

ROUNDING = 1e-6
"""Machines add numbers in different orders; a smaller change of a metric could not mislead anyone."""
FAR = 0.05


@dataclass
class EntryCheck:
    """The result of checking one entry."""

    problems: list[str] = field(default_factory=list)
    checked: int = 0  # runs whose embeddings are stored here
    absent: int = 0  # runs whose embeddings are not stored here
    other: int = 0  # of those, cells that are stored with other embeddings, such as those of another machine

    @property
    def is_refused(self) -> bool:
        return bool(self.problems)

    def in_words(self, name: str) -> str:
        """One line about an entry that is not refused."""
        other = f" ({self.other} of them are stored with other embeddings)" if self.other else ""
        absent = f"the embeddings of {counted(self.absent, 'run')} are not here{other}"
        if not self.checked:
            return f"format only: {name}: its metrics were not checked, because {absent}"
        return f"correct: {name}: {counted(self.checked, 'run')} recomputed" + (f"; {absent}" if self.absent else "")


def verify(entry: Entry, store: Store, recompute: bool = True) -> EntryCheck:
    """Compares the entry with the stored runs. Their metrics are computed again from the embeddings; without
    `recompute` the stored metrics are used."""
    verdict = EntryCheck()
    for result in entry.results:
        for place, entered in enumerate(result.runs):
            run = stored_run(store, entered.cell, result.test_set)
            where = f"{result.label}, seed {entered.seed}"
            if run is None:
                verdict.absent += 1
            elif embeddings_digest(run) != entered.embeddings:
                verdict.absent, verdict.other = verdict.absent + 1, verdict.other + 1
                verdict.problems += [f"{where}: {problem}" for problem in _far_apart(result, place, run)]
            else:
                verdict.checked += 1
                verdict.problems += [f"{where}: {problem}" for problem in _problems(result, place, run, recompute)]
    return verdict


def _far_apart(result: Result, place: int, run: Run) -> Iterator[str]:
    """Main metrics that differ by more than rounding on another machine explains."""
    for name in main_metrics():
        entered = result.figures[name][place] if name in result.figures else None
        found = run.metrics.get(name)
        if entered is not None and found is not None and abs(entered - found) > FAR:
            yield (
                f"{name} is {entered}, but the stored run of the cell has {found}; "
                "rounding on another machine does not explain this"
            )


def _problems(result: Result, place: int, run: Run, recompute: bool) -> Iterator[str]:
    entered = result.runs[place]
    if entered.diverged_at != run.diverged_at:
        yield f"diverged_at is {entered.diverged_at}, but the stored run has {run.diverged_at}"
        return
    figures: Mapping[str, Any] = {} if recompute else run.metrics
    without: Mapping[str, np.ndarray] = {}
    if recompute and run.diverged_at is None:
        scores = recomputed(run)
        figures, without = scores.metrics, scores.jackknife
    kept = metrics_without_each_identity()
    for name in {*main_metrics(), *kept} - set(result.figures):
        if figures.get(name) is not None:
            yield f"{name} is missing, but its embeddings give {figures[name]}"
    for name in set(kept) & set(without) - set(result.without_each_identity):
        yield f"{name} without each identity is missing"
    for name, values in result.figures.items():
        if not _equal(values[place], figures.get(name)):
            yield f"{name} is {values[place]}, but its embeddings give {figures.get(name)}"
    for name, rows in result.without_each_identity.items() if recompute else ():
        if not _all_equal(rows[place], without.get(name)):
            yield f"{name} without each identity does not follow from its embeddings"


def _equal(entered: float | None, found: float | None) -> bool:
    if entered is None or found is None:
        return entered is found
    return abs(entered - found) <= ROUNDING * max(1.0, abs(found))


def _all_equal(entered: list[float] | None, found: np.ndarray | None) -> bool:
    if entered is None or found is None:
        return entered is None and found is None
    return len(entered) == len(found) and float(np.abs(np.array(entered) - found).max()) <= 10.0**-DECIMALS
