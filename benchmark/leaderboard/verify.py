"""Whether an entry's figures follow from its embeddings, where they are here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmark import scoring
from benchmark.collected import JACKKNIFE
from benchmark.leaderboard.entries import Entry, Result
from benchmark.leaderboard.entries import Run as EnteredRun
from benchmark.leaderboard.making import DECIMALS
from benchmark.store import DamagedError, Run, Store

ROUNDING = 1e-6
"""Other machines add up in another order; a figure that was altered by less is of no use to anybody."""


@dataclass
class Verdict:
    """What came of checking one entry."""

    problems: list[str] = field(default_factory=list)
    checked: int = 0  # runs whose embeddings are here
    absent: int = 0  # runs whose embeddings are not

    @property
    def is_refused(self) -> bool:
        return bool(self.problems)


def verify(entry: Entry, store: Store, recompute: bool = True) -> Verdict:
    """Compares the entry with the runs that are stored here: their figures are computed again from the embeddings,
    or, without `recompute`, taken as they were stored."""
    verdict = Verdict()
    for result in entry.results:
        for place, entered in enumerate(result.runs):
            run = _stored(store, entered)
            if run is None:
                verdict.absent += 1
                continue
            verdict.checked += 1
            where = f"{result.label}, seed {entered.seed}"
            verdict.problems += [f"{where}: {problem}" for problem in _problems(result, place, run, recompute)]
    return verdict


def _stored(store: Store, entered: EnteredRun) -> Run | None:
    """The run with these very embeddings; another machine's run of the same cell is not what was entered."""
    try:
        run = store.load(entered.cell) if store.has(entered.cell) else None
    except DamagedError:
        return None
    return run if run and run.cell["checksums"]["embeddings.safetensors"] == entered.embeddings else None


def _problems(result: Result, place: int, run: Run, recompute: bool) -> Iterator[str]:
    entered = result.runs[place]
    if entered.diverged_at != run.metrics["diverged_at"]:
        yield f"diverged_at is {entered.diverged_at}, the run says {run.metrics['diverged_at']}"
        return
    figures, without = _again(run) if recompute else (run.metrics["figures"], {})
    for name, values in result.figures.items():
        if not _equal(values[place], figures.get(name), ROUNDING):
            yield f"{name} is {values[place]}, its embeddings give {figures.get(name)}"
    for name, rows in result.without_each_identity.items() if recompute else ():
        if not _all_equal(rows[place], without.get(name)):
            yield f"{name} without each identity does not follow from its embeddings"


def _again(run: Run) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
    """Figures, and metrics without each identity, from the embeddings; none of a diverged run."""
    if run.metrics["diverged_at"] is not None:
        return {}, {}
    arrays = {name: value.numpy() for name, value in run.arrays().items()}
    with threadpool_limits(1):  # as in a worker: more threads add up in another order
        without = {name.removeprefix(JACKKNIFE): values for name, values in scoring.jackknife(arrays).items()}
        return scoring.figures(arrays), without


def _equal(entered: float | None, found: float | None, tolerance: float) -> bool:
    if entered is None or found is None:
        return entered is found
    return abs(entered - found) <= tolerance * max(1.0, abs(found))


def _all_equal(entered: list[float] | None, found: np.ndarray | None) -> bool:
    if entered is None or found is None:
        return entered is None and found is None
    return len(entered) == len(found) and float(np.abs(np.array(entered) - found).max()) <= 10.0**-DECIMALS
