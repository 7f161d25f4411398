"""Differences between losses, paired by seed and test identity, and which of them survive correction."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from benchmark.statistics.measurements import (
    Estimate,
    Jackknife,
    Measurements,
    arrange,
    check_results,
    mean_over_datasets,
)
from benchmark.statistics.summary import LEVEL, as_nullable, interval, sizes
from benchmark.statistics.variance import Floats

# The fewest seeds with which the coverage of these intervals was checked. With fewer, one odd seed decides,
# and a rank test could say nothing at all (the two-sided Wilcoxon test of n pairs never goes below 2/2ⁿ).
MIN_SEEDS = 5
ROUNDING_ERROR = 1e-12
ALL_DATASETS = "all datasets"

Scope = list[Measurements]  # one dataset, or all of them


def compare(
    results: pd.DataFrame,
    baseline: str,
    metrics: Sequence[str] | None = None,
    jackknife: Jackknife | None = None,
    level: float = LEVEL,
) -> pd.DataFrame:
    """loss − baseline on every dataset and on the plain mean of all, with interval and p-value.

    The interval carries the seeds, and the test identities where `jackknife` holds them for both losses; it
    is not corrected. `p_holm` is corrected by Holm's method over all losses and datasets of a metric
    (`family` says how many tests); the rows of "all datasets" are a family of their own, and speak of these
    datasets only. `significant` compares `p_holm` with 1 − level. With fewer than five paired seeds there is
    no p-value, and `note` says so.
    """
    rows = []
    for metric in check_results(results, metrics):
        for family in _scopes(results, metric, jackknife):
            losses = sorted({loss for scope in family.values() for part in scope for loss in part.losses})
            if baseline not in losses:
                raise ValueError(f"the baseline {baseline!r} is not among the losses: {losses}")
            pairs = [(loss, baseline) for loss in losses if loss != baseline]
            rows += [{**row, "metric": metric} for row in _compared(family, pairs, level)]
    columns = [
        "loss",
        "baseline",
        "dataset",
        "metric",
        *_row(Estimate(None), level),
        "p_holm",
        "significant",
        "family",
    ]
    return as_nullable(pd.DataFrame(rows, columns=columns))


def tied_with_best(
    results: pd.DataFrame,
    metric: str,
    lower_is_better: bool = False,
    jackknife: Jackknife | None = None,
    level: float = LEVEL,
) -> pd.DataFrame:
    """For every loss on every dataset, and over all: is it tied with the best?

    The best has the best mean; a loss is tied with it unless it is significantly worse. Because the best is
    picked by looking, Holm's correction is over all pairs of losses, not only over those with the best.
    `tied_with_best` is <NA> where it cannot be tested, and `note` says why.
    """
    check_results(results, [metric])
    rows = []
    for family in _scopes(results, metric, jackknife):
        for dataset, scope in family.items():
            rows += _marks(dataset, scope, lower_is_better, level)
    columns = ["loss", "dataset", "mean", "best", "tied_with_best", "p_holm", *sizes(Estimate(None)), "note"]
    return as_nullable(pd.DataFrame(rows, columns=columns))


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of one family."""
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(adjusted, 1.0)
    return corrected


def _scopes(results: pd.DataFrame, metric: str, jackknife: Jackknife | None) -> list[dict[str, Scope]]:
    """Two families: each dataset by itself, and all of them together if there are several."""
    datasets = sorted(results["dataset"].unique())
    each = {dataset: [arrange(results, dataset, metric, jackknife)] for dataset in datasets}
    together = {ALL_DATASETS: [scope[0] for scope in each.values()]}
    return [each, together] if len(each) > 1 else [each]


def _compared(
    family: dict[str, Scope], pairs: Iterable[tuple[str, str]], level: float
) -> list[dict[str, Any]]:
    """A row for each scope and pair of losses, corrected over all of them."""
    pairs = list(pairs)
    rows = [
        {
            "loss": loss,
            "baseline": baseline,
            "dataset": dataset,
            **_row(_difference(scope, loss, baseline), level),
        }
        for dataset, scope in family.items()
        for loss, baseline in pairs
    ]
    tested = [row for row in rows if row["p"] is not None]
    for row in rows:
        row |= {"p_holm": None, "significant": None, "family": len(tested)}
    for row, corrected in zip(tested, holm(np.array([row["p"] for row in tested])), strict=True):
        row |= {"p_holm": float(corrected), "significant": bool(corrected < 1 - level)}
    return rows


def _difference(scope: Scope, loss: str, baseline: str) -> Estimate:
    return mean_over_datasets([part.difference(loss, baseline) for part in scope])


def _row(estimate: Estimate, level: float) -> dict[str, Any]:
    p, note = _p_value(estimate)
    return {
        "difference": estimate.mean,
        **interval(estimate, level),
        **sizes(estimate),
        "p": p,
        "note": note,
    }


def _p_value(estimate: Estimate) -> tuple[float | None, str]:
    """The p-value, or why there is none."""
    if estimate.mean is None:
        return None, "no seed has a value for both"
    if estimate.variance is None or estimate.n_seeds < MIN_SEEDS:
        return None, f"too few paired seeds: {estimate.n_seeds}, a test needs {MIN_SEEDS}"
    if estimate.variance.variance > ROUNDING_ERROR**2:
        return float(estimate.variance.p_value(np.asarray(estimate.mean))), ""
    if abs(estimate.mean) <= ROUNDING_ERROR:
        return 1.0, "equal in every seed"
    return None, "the same difference in every seed: no variance to test against"


def _marks(dataset: str, scope: Scope, lower_is_better: bool, level: float) -> list[dict[str, Any]]:
    losses = sorted(set.union(*(set(part.losses) for part in scope)))
    means = {loss: mean_over_datasets([part.of(loss) for part in scope]) for loss in losses}
    sign = -1.0 if lower_is_better else 1.0
    best = max(
        ((sign * one.mean, loss) for loss, one in means.items() if one.mean is not None), default=(0, "")
    )[1]
    with_best = {}
    for row in _compared({dataset: scope}, combinations(losses, 2), level):
        if best in (row["loss"], row["baseline"]):
            with_best[row["baseline"] if row["loss"] == best else row["loss"]] = row
    return [
        {"loss": loss, "dataset": dataset, "mean": means[loss].mean, "best": loss == best}
        | _mark(means[loss], with_best.get(loss))
        | sizes(means[loss])
        for loss in losses
    ]


def _mark(mean: Estimate, with_best: dict[str, Any] | None) -> dict[str, Any]:
    """Tied, not tied or unknown; the best itself has nobody to be compared with."""
    if mean.mean is None:
        return {"tied_with_best": None, "p_holm": None, "note": "no run has a value"}
    if with_best is None:
        return {"tied_with_best": True, "p_holm": None, "note": ""}
    known = with_best["p_holm"] is not None
    return {
        "tied_with_best": not with_best["significant"] if known else None,
        "p_holm": with_best["p_holm"],
        "note": with_best["note"],
    }
