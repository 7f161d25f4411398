"""Whether an entry's figures follow from its embeddings, where they are here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmark.leaderboard.entries import Entry, Result, main_metrics
from benchmark.leaderboard.make_entry import DECIMALS, embeddings_digest, metrics_without_each_identity, stored_run
from benchmark.rescore import recomputed
from benchmark.store import Run, Store

ROUNDING = 1e-6
"""Other machines add up in another order; a figure that was altered by less is of no use to anybody."""
FAR = 0.05


@dataclass
class EntryCheck:
    """What came of checking one entry."""

    problems: list[str] = field(default_factory=list)
    checked: int = 0  # runs whose embeddings are here
    absent: int = 0  # runs whose embeddings are not
    other: int = 0  # of those, cells that are stored here with other embeddings, as another machine's would be

    @property
    def is_refused(self) -> bool:
        return bool(self.problems)

    def in_words(self, name: str) -> str:
        """What can be said of an entry that is not refused."""
        other = f" ({self.other} of them are stored here with other embeddings)" if self.other else ""
        absent = f"{self.absent} runs whose embeddings are not here{other}"
        if not self.checked:
            return f"form alone: {name}: its figures were not checked, {absent}"
        return f"sound: {name}: {self.checked} runs computed again" + (f", {absent}" if self.absent else "")


def verify(entry: Entry, store: Store, recompute: bool = True) -> EntryCheck:
    """Compares the entry with the runs that are stored here: their figures are computed again from the embeddings,
    or, without `recompute`, taken as they were stored."""
    verdict = EntryCheck()
    for result in entry.results:
        for place, entered in enumerate(result.runs):
            run = stored_run(store, entered.cell)
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
    """Another machine's run of the same cell differs in its rounding; that moves no main figure far."""
    for name in main_metrics():
        entered = result.figures[name][place] if name in result.figures else None
        found = run.metrics.get(name)
        if entered is not None and found is not None and abs(entered - found) > FAR:
            yield f"{name} is {entered}, and the same cell that is stored here has {found}: too far for another machine"


def _problems(result: Result, place: int, run: Run, recompute: bool) -> Iterator[str]:
    entered = result.runs[place]
    if entered.diverged_at != run.diverged_at:
        yield f"diverged_at is {entered.diverged_at}, the run says {run.diverged_at}"
        return
    figures: Mapping[str, Any] = {} if recompute else run.metrics
    without: Mapping[str, np.ndarray] = {}
    if recompute and run.diverged_at is None:
        scores = recomputed(run)
        figures, without = scores.metrics, scores.jackknife
    kept = metrics_without_each_identity()
    for name in {*main_metrics(), *kept} - set(result.figures):
        if figures.get(name) is not None:
            yield f"it leaves out {name}, its embeddings give {figures[name]}"
    for name in set(kept) & set(without) - set(result.without_each_identity):
        yield f"it leaves out {name} without each identity"
    for name, values in result.figures.items():
        if not _equal(values[place], figures.get(name)):
            yield f"{name} is {values[place]}, its embeddings give {figures.get(name)}"
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
