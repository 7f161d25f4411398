"""`score EXPERIMENT`: computes metrics from saved embeddings, and compares them with the stored ones or adds them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from benchmark.errors import InputError
from benchmark.metrics import MEASURES, Measure, keys
from benchmark.scoring import Scores, outdated, score
from benchmark.store import Run, Store

ABSENT = "absent"


@dataclass(frozen=True)
class ScoreDifference:
    """A stored metric that differs from what the stored embeddings give."""

    run: str
    metric: str
    stored: Any
    recomputed: Any


@dataclass(frozen=True)
class ScoreCheck:
    """How a run's stored metrics compare with its embeddings."""

    differences: list[ScoreDifference]
    lacking: list[str]  # measures that are new or have changed: `--update` computes them
    unknown: list[str]  # measures of the stored metrics that are not registered here


def check(run: Run) -> ScoreCheck:
    """Computes a run's metrics again and compares them; a diverged run has none."""
    if run.diverged_at is not None:
        return ScoreCheck([], [], [])
    lacking = due(run)
    unknown = sorted(run.versions.keys() - MEASURES.items().keys())
    not_compared = {key for one in lacking for key in one.keys(run.test_sets)}
    if unknown:
        not_compared |= run.metrics.keys() - set(keys(run.test_sets))
    stored, found = run.metrics, recomputed(run, jackknife=False).metrics
    pairs = {key: (stored.get(key, ABSENT), found.get(key, ABSENT)) for key in {*stored, *found} - not_compared}
    differences = [ScoreDifference(run.id, key, *pairs[key]) for key in sorted(pairs) if pairs[key][0] != pairs[key][1]]
    return ScoreCheck(differences, [one.name for one in lacking], unknown)


def due(run: Run) -> list[Measure]:
    """The measures whose metrics a run lacks or has from another version."""
    return [] if run.diverged_at is not None else outdated(run.versions, run.shapes())


def update(store: Store, run_id: str) -> bool:
    """Computes what a stored run lacks, and stores it again; whether there was something to do.

    Raises:
        InputError: Another process is at work on the run.
    """
    if not due(store.load(run_id)):
        return False
    held = store.lock(run_id)
    if held is None:
        raise InputError(f"{run_id} is in use by another process: run `score --update` again when that has ended")
    try:
        run = store.load(run_id)
        if measures := due(run):  # another process may have done it by now
            store.replace(run, _completed(run, measures).files())
    finally:
        held.release()
    return True


def recomputed(run: Run, measures: Collection[Measure] | None = None, jackknife: bool = True) -> Scores:
    """A run's metrics from its embeddings, as a worker computes them: more threads add up in another order."""
    with threadpool_limits(1):
        return score(run.arrays(), measures, jackknife)


def _completed(run: Run, measures: list[Measure]) -> Scores:
    """What is stored, with all metrics of these measures in their new version."""
    replaced = {key for one in measures for key in one.keys(run.test_sets)}
    new = recomputed(run, measures)
    kept = {key: value for key, value in run.metrics.items() if key not in replaced}
    without = {key: value for key, value in run.jackknife().items() if key not in replaced}
    return Scores({**kept, **new.metrics}, {**run.versions, **new.versions}, {**without, **new.jackknife})


def runs_to_score(store: Store) -> tuple[list[Run], list[str]]:
    """The experiment's whole runs, and the damaged ones by name."""
    if not store.runs.is_dir():
        raise InputError(f"there are no results in {store.folder}: run the experiment first, or name --results DIR")
    return store.load_all()
