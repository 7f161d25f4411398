"""How long the statistics of 5,000 stored runs take: intervals, comparisons, ties and ranks, with identities.

python -m perf.statistics [--quick]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmark.statistics import average_ranks, compare, critical_difference, summarise, tied_with_best
from benchmark.statistics.measurements import Jackknife

LIMIT = 10.0  # seconds
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 runs instead of 5,000")
    size = (10, 10, 5) if parser.parse_args().quick else (20, 25, 10)
    results, jackknife = stored_runs(*size, identities=200)
    steps: dict[str, Callable[[], Any]] = {
        "means and intervals": lambda: summarise(results, jackknife=jackknife),
        "against a baseline": lambda: compare(results, "loss 00", jackknife=jackknife),
        "tied with the best": lambda: [
            tied_with_best(results, metric, metric == "eer", jackknife) for metric in METRICS
        ],
        "ranks": lambda: [
            critical_difference(average_ranks(results, metric, metric == "eer")) for metric in METRICS
        ],
    }
    print(f"{len(results)} runs, {len(METRICS)} metrics, 200 test identities")
    total = 0.0
    for name, step in steps.items():
        start = time.perf_counter()
        step()
        seconds = time.perf_counter() - start
        total += seconds
        print(f"  {name:22} {seconds:6.2f} s")
    verdict = "met" if total < LIMIT else "MISSED"
    print(f"  {'all':22} {total:6.2f} s   bar: under {LIMIT:.0f} s   {verdict}")


if __name__ == "__main__":
    main()
