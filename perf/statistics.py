"""How long the statistics of 5,000 stored runs take: intervals, comparisons, ties and ranks, with identities.

python -m perf.statistics [--quick]
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmark.statistics import average_ranks, compare, critical_difference, summarise, tied_with_best
from benchmark.statistics.measurements import Jackknife
from perf._alone import alone
from perf._model import Measured, Part, at_most

TITLE = "Statistics of stored runs"
HOW = "Intervals, comparisons with a baseline, ties and ranks of three metrics, with 200 test identities per run."
WITHIN = at_most(10.0)
METRICS = ("accuracy", "auc", "eer")


def stored_runs(losses: int, datasets: int, seeds: int, identities: int) -> tuple[pd.DataFrame, Jackknife]:
    """A table of results and, for every run and metric, its values without each test identity."""
    rng = np.random.default_rng(0)
    rows, jackknife = [], {}
    for dataset in range(datasets):
        for loss in range(losses):
            for seed in range(seeds):
                cell = (f"loss {loss:02}", f"dataset {dataset:02}", seed)
                values = {metric: 0.9 + 0.02 * rng.standard_normal() for metric in METRICS}
                rows.append([*cell, *values.values()])
                jackknife[cell] = {m: v + 1e-3 * rng.standard_normal(identities) for m, v in values.items()}
    return pd.DataFrame(rows, columns=["loss", "dataset", "seed", *METRICS]), jackknife


def measure(quick: bool) -> Part:
    size = (4, 2, 5) if quick else (20, 25, 10)
    results, jackknife = stored_runs(*size, identities=200)
    at = f"{len(results):,} runs"
    seconds = {name: _seconds(step) for name, step in steps(results, jackknife).items()}
    part = Part("statistics", TITLE, HOW, [Measured(name, at, found, "s") for name, found in seconds.items()])
    part.measured.append(Measured("all statistics", at, sum(seconds.values()), "s", bar=WITHIN, judged=not quick))
    return part


def steps(results: pd.DataFrame, jackknife: Jackknife) -> dict[str, Callable[[], Any]]:
    return {
        "means and intervals": lambda: summarise(results, jackknife=jackknife),
        "against a baseline": lambda: compare(results, "loss 00", jackknife=jackknife),
        "tied with the best": lambda: [
            tied_with_best(results, metric, metric == "eer", jackknife) for metric in METRICS
        ],
        "ranks": lambda: [critical_difference(average_ranks(results, metric, metric == "eer")) for metric in METRICS],
    }


def _seconds(step: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


if __name__ == "__main__":
    alone(measure)
