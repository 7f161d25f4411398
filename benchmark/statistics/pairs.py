"""Differences of chosen pairs of losses, each on its own dataset and metric, for what no single baseline can answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from benchmark.statistics.comparisons import corrected_tests
from benchmark.statistics.measurements import (
    ALL_DATASETS,
    Estimate,
    Jackknife,
    Measurements,
    arrange,
    check_results,
    mean_over_datasets,
)
from benchmark.statistics.summary import LEVEL, as_nullable, interval, sizes


@dataclass(frozen=True)
class Pairing:
    """loss − baseline, both labels of rows, by a metric on a dataset."""

    loss: str
    baseline: str
    dataset: str
    metric: str


def compare_pairs(
    results: pd.DataFrame, pairings: Sequence[Pairing], jackknife: Jackknife | None = None, level: float = LEVEL
) -> pd.DataFrame:
    """A row for each pairing with the columns of `compare`, paired by seed and test identity; Holm's correction is over
    all of them."""
    check_results(results, sorted({pairing.metric for pairing in pairings}))

    @cache
    def measured(dataset: str, metric: str) -> Measurements:
        return arrange(results, dataset, metric, jackknife)

    found = [measured(one.dataset, one.metric).difference(one.loss, one.baseline) for one in pairings]
    return _table(pairings, found, level)


def compare_pairs_over_datasets(
    results: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    datasets: Sequence[str],
    metric: str,
    jackknife: Jackknife | None = None,
    level: float = LEVEL,
) -> pd.DataFrame:
    """The same for the plain mean of the pairs' differences over datasets, which speaks of these datasets only; a pair
    that some of them lacks has no value."""
    check_results(results, [metric])
    measured = [arrange(results, dataset, metric, jackknife) for dataset in datasets]
    found = [mean_over_datasets([part.difference(*pair) for part in measured]) for pair in pairs]
    return _table([Pairing(*pair, ALL_DATASETS, metric) for pair in pairs], found, level)


def _table(pairings: Sequence[Pairing], estimates: Sequence[Estimate], level: float) -> pd.DataFrame:
    tests = corrected_tests(list(estimates), level)
    rows: list[dict[str, Any]] = [
        {"loss": one.loss, "baseline": one.baseline, "dataset": one.dataset, "metric": one.metric}
        | {"difference": estimate.mean}
        | interval(estimate, level)
        | sizes(estimate)
        | test
        for one, estimate, test in zip(pairings, estimates, tests, strict=True)
    ]
    columns = ["loss", "baseline", "dataset", "metric", "difference", *interval(Estimate(None), level)]
    columns += [*sizes(Estimate(None)), "p", "p_holm", "significant", "family", "note"]
    return as_nullable(pd.DataFrame(rows, columns=columns))
