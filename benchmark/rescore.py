"""`score EXPERIMENT`: every metric again from the saved embeddings, compared with what is stored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from benchmark import scoring
from benchmark.errors import InputError
from benchmark.store import Run, Store


@dataclass(frozen=True)
class ScoreDifference:
    """A figure that does not follow from the embeddings stored beside it."""

    run: str
    metric: str
    stored: Any
    recomputed: Any


def rescore(run: Run) -> Iterator[ScoreDifference]:
    """What differs in one run; nothing for a diverged one, which has no figures."""
    if run.metrics["diverged_at"] is not None:
        return
    arrays = {name: value.numpy() for name, value in run.arrays().items()}
    with threadpool_limits(1):  # as in a worker: more threads add up in another order
        recomputed = scoring.figures(arrays)
    yield from differences(run.id, run.metrics["figures"], recomputed)


def differences(name: str, stored: Mapping[str, Any], recomputed: Mapping[str, Any]) -> Iterator[ScoreDifference]:
    for metric in sorted({*stored, *recomputed}):
        if stored.get(metric, "absent") != recomputed.get(metric, "absent"):
            yield ScoreDifference(name, metric, stored.get(metric, "absent"), recomputed.get(metric, "absent"))


def runs_to_score(store: Store) -> tuple[list[Run], list[str]]:
    """The experiment's whole runs, and the damaged ones by name."""
    if not store.runs.is_dir():
        raise InputError(f"there are no results in {store.folder}: run the experiment first, or name --results")
    return store.load_all()
