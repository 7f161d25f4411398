"""Differences between losses, paired by seed and test identity, and which of them survive correction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd

from benchmark.errors import InputError
from benchmark.statistics.measurements import (
    ALL_DATASETS,
    Estimate,
    Jackknife,
    Measurements,
    arrange,
    arrange_all,
    check_results,
    mean_over_datasets,
)
from benchmark.statistics.summary import LEVEL, as_nullable, interval, sizes
from benchmark.statistics.variance import Floats

# The fewest seeds with which the coverage of these intervals was checked. With fewer, one odd seed decides,
# and a rank test could say nothing at all (the two-sided Wilcoxon test of n pairs never goes below 2/2ⁿ).
MIN_SEEDS = 5
ROUNDING_ERROR = 1e-12

Pair = tuple[str, str]  # of losses
Tests = dict[Pair, Mapping[Any, Any]]  # rows of `every_pair`


@dataclass(frozen=True)
class Pairing:
    """loss − baseline, both labels of rows, by a metric on a dataset."""

    loss: str
    baseline: str
    dataset: str
    metric: str


def compare(
    results: pd.DataFrame,
    baseline: str,
    metrics: Sequence[str] | None = None,
    jackknife: Jackknife | None = None,
    level: float = LEVEL,
    against: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Computes loss − baseline on every dataset and on the plain mean of all datasets, with interval and p-value.

    The interval is not corrected. `p_holm` is corrected by Holm's method over all losses and datasets of a metric
    (`family` says how many tests); the rows of "all datasets" are a family of their own, and speak of these datasets
    only. `significant` compares `p_holm` with 1 − `level`. With fewer than five paired seeds there is no p-value, and
    `note` says so.

    Args:
        results: One row per run: loss, dataset, seed and a column per metric (NaN: a diverged run).
        baseline: The loss that the others are compared with.
        metrics: The metrics to compare; all numeric columns by default.
        jackknife: Values without each test identity. With it the interval also carries the identities.
        level: The probability of the interval.
        against: Another baseline for some losses.

    Raises:
        InputError: A column or the baseline is missing, or a run occurs twice.

    >>> values = {"a": [0.91, 0.93, 0.92, 0.94, 0.92], "b": [0.90, 0.91, 0.91, 0.92, 0.90]}
    >>> runs = [(loss, "digits", seed, value) for loss in values for seed, value in enumerate(values[loss])]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> row = compare(results, baseline="b").iloc[0]
    >>> row["loss"], float(round(row["difference"], 3)), int(row["n_seeds"])
    ('a', 0.016, 5)
    """
    rows = []
    for metric in check_results(results, metrics):
        measured = arrange_all(results, metric, jackknife)
        losses = _losses(measured)
        if baseline not in losses:
            raise InputError(f"the baseline {baseline!r} is not among the losses: {losses}")
        pairs = [(loss, (against or {}).get(loss, baseline)) for loss in losses if loss != baseline]
        estimates = _differences(measured, pairs)
        overall = {ALL_DATASETS: estimates.pop(ALL_DATASETS)} if ALL_DATASETS in estimates else {}
        for family in (estimates, overall):
            names = [asdict(Pairing(*pair, dataset, metric)) for dataset in family for pair in pairs]
            rows += _compared(names, list(chain(*family.values())), level)
    return _table(rows)


def compare_pairs(
    results: pd.DataFrame, pairings: Sequence[Pairing], jackknife: Jackknife | None = None, level: float = LEVEL
) -> pd.DataFrame:
    """A row for each of the `pairings`, with the columns of `compare`, for questions that have no single baseline.

    `results`, `jackknife`, `level` and errors are those of `compare`. Holm's correction is over all pairings.

    >>> values = {"a": [0.91, 0.93, 0.92, 0.94, 0.92], "b": [0.90, 0.91, 0.91, 0.92, 0.90]}
    >>> runs = [(loss, "digits", seed, value) for loss in values for seed, value in enumerate(values[loss])]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> compare_pairs(results, [Pairing("a", "b", "digits", "accuracy")])["difference"].round(3).tolist()
    [0.016]
    """
    check_results(results, sorted({pairing.metric for pairing in pairings}))

    @cache
    def measured(dataset: str, metric: str) -> Measurements:
        return arrange(results, dataset, metric, jackknife)

    found = [measured(one.dataset, one.metric).difference(one.loss, one.baseline) for one in pairings]
    return _table(_compared(map(asdict, pairings), found, level))


def compare_pairs_over_datasets(
    results: pd.DataFrame,
    pairs: Sequence[Pair],
    datasets: Sequence[str],
    metric: str,
    jackknife: Jackknife | None = None,
    level: float = LEVEL,
) -> pd.DataFrame:
    """A row for each of the `pairs` of losses: the plain mean of their difference over `datasets`, by one `metric`.

    It speaks of these datasets only; a pair that is missing on one of them has no value. `results`, `jackknife`,
    `level` and errors are those of `compare`.

    >>> values = {"a": [0.91, 0.93, 0.92, 0.94, 0.92], "b": [0.90, 0.91, 0.91, 0.92, 0.90]}
    >>> runs = [(loss, "digits", seed, value) for loss in values for seed, value in enumerate(values[loss])]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> compare_pairs_over_datasets(results, [("a", "b")], ["digits"], "accuracy")["dataset"].tolist()
    ['all datasets']
    """
    check_results(results, [metric])
    measured = [arrange(results, dataset, metric, jackknife) for dataset in datasets]
    found = [mean_over_datasets([part.difference(*pair) for part in measured]) for pair in pairs]
    return _table(_compared([asdict(Pairing(*pair, ALL_DATASETS, metric)) for pair in pairs], found, level))


def tied_with_best(
    results: pd.DataFrame,
    metric: str,
    lower_is_better: bool = False,
    jackknife: Jackknife | None = None,
    level: float = LEVEL,
    pairs: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """For every loss on every dataset, and over all datasets: is it tied with the best by this `metric`?

    A loss is tied with the best if no other loss is significantly better. The best is the one of them with the best
    mean, the lowest with `lower_is_better`. Because it is picked by looking, Holm's correction is over all pairs of
    losses, not only over those with the best. `worse_than` names a loss that is significantly better: the best, or
    else the best of those that are. `tied_with_best` is <NA> where it cannot be tested, and `note` says why. `p_holm`
    and `note` belong to the test against the best. `pairs` are the rows of `every_pair`, if they are known already.
    `results`, `jackknife`, `level` and errors are those of `compare`.

    >>> values = {"a": [0.91, 0.93, 0.92, 0.94, 0.92], "b": [0.90, 0.91, 0.91, 0.92, 0.90]}
    >>> runs = [(loss, "digits", seed, value) for loss in values for seed, value in enumerate(values[loss])]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> tied_with_best(results, "accuracy")["best"].tolist()
    [True, False]
    """
    check_results(results, [metric])
    measured = arrange_all(results, metric, jackknife)
    losses = _losses(measured)
    means = _with_overall({name: [part.of(loss) for loss in losses] for name, part in measured.items()})
    tests = _tests_by_dataset(every_pair(results, metric, jackknife, level) if pairs is None else pairs)
    rows = []
    for dataset, estimates in means.items():
        of_losses = dict(zip(losses, estimates, strict=True))
        marks = _marks(of_losses, tests.get(dataset, {}), lower_is_better)
        rows += [{"dataset": dataset, **row} for row in marks]
    columns = ["loss", "dataset", "mean", "best", "tied_with_best", "worse_than", "p_holm"]
    return as_nullable(pd.DataFrame(rows, columns=[*columns, *sizes(Estimate(None)), "note"]))


def every_pair(
    results: pd.DataFrame, metric: str, jackknife: Jackknife | None = None, level: float = LEVEL
) -> pd.DataFrame:
    """Computes loss − other by a `metric` for every two losses on every dataset and over all datasets.

    Holm's correction is over all pairs of a dataset, as in `tied_with_best`, because whoever looks at one pair has seen
    the others. `results`, `jackknife`, `level` and errors are those of `compare`.

    >>> values = {"a": [0.91, 0.93, 0.92, 0.94, 0.92], "b": [0.90, 0.91, 0.91, 0.92, 0.90]}
    >>> runs = [(loss, "digits", seed, value) for loss in values for seed, value in enumerate(values[loss])]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> every_pair(results, "accuracy")[["loss", "other"]].values.tolist()
    [['a', 'b']]
    """
    check_results(results, [metric])
    measured = arrange_all(results, metric, jackknife)
    pairs = list(combinations(_losses(measured), 2))
    rows = []
    for dataset, differences in _differences(measured, pairs).items():
        names = [{"loss": loss, "other": other, "dataset": dataset} for loss, other in pairs]
        rows += _compared(names, differences, level)
    return _table(rows, names=("loss", "other", "dataset"))


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of one family of p-values `p`.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(adjusted, 1.0)
    return corrected


def _losses(measured: dict[str, Measurements]) -> list[str]:
    return sorted({loss for part in measured.values() for loss in part.losses})


def _differences(measured: dict[str, Measurements], pairs: list[Pair]) -> dict[str, list[Estimate]]:
    return _with_overall({name: [part.difference(*pair) for pair in pairs] for name, part in measured.items()})


def _with_overall(found: dict[str, list[Estimate]]) -> dict[str, list[Estimate]]:
    """Estimates by dataset, and their means over all datasets if there are several."""
    overall = [mean_over_datasets(estimates) for estimates in zip(*found.values(), strict=True)]
    return {**found, ALL_DATASETS: overall} if len(found) > 1 else found


def _compared(names: Iterable[Mapping[str, str]], family: Sequence[Estimate], level: float) -> list[dict[str, Any]]:
    """A row for each difference, corrected over all of them."""
    tests = corrected_tests(family, level)
    return [
        {**name, "difference": found.mean, **interval(found, level), **sizes(found), **test}
        for name, found, test in zip(names, family, tests, strict=True)
    ]


def _table(
    rows: list[dict[str, Any]], names: Sequence[str] = ("loss", "baseline", "dataset", "metric")
) -> pd.DataFrame:
    columns = [*names, "difference", *interval(Estimate(None), LEVEL), *sizes(Estimate(None))]
    columns += ["p", "p_holm", "significant", "family", "note"]
    return as_nullable(pd.DataFrame(rows, columns=columns))


def corrected_tests(family: Sequence[Estimate], level: float) -> list[dict[str, Any]]:
    """p-value, corrected over the family, or the reason why there is none."""
    found = [p_value(estimate) for estimate in family]
    tested = [p for p, _ in found if p is not None]
    corrected = iter(holm(np.array(tested)).tolist())
    tests = []
    for p, note in found:
        p_holm = None if p is None else next(corrected)
        significant = None if p_holm is None else p_holm < 1 - level
        tests.append({"p": p, "p_holm": p_holm, "significant": significant, "family": len(tested), "note": note})
    return tests


def p_value(estimate: Estimate, null: float = 0.0) -> tuple[float | None, str]:
    """The two-sided p-value of a true mean of `null`, or why there is none."""
    if estimate.mean is None:
        return None, "no seed has a value for both"
    if estimate.variance is None or estimate.n_seeds < MIN_SEEDS:
        return None, f"too few paired seeds: {estimate.n_seeds}, a test needs {MIN_SEEDS}"
    if estimate.variance.variance > ROUNDING_ERROR**2:
        return float(estimate.variance.p_value(np.asarray(estimate.mean - null))), ""
    if abs(estimate.mean - null) <= ROUNDING_ERROR:
        return 1.0, "equal in every seed"
    return None, "the same difference in every seed: no variance to test against"


def _tests_by_dataset(pairs: pd.DataFrame) -> dict[str, Tests]:
    found: dict[str, Tests] = {}
    for row in pairs.to_dict("records"):
        found.setdefault(str(row["dataset"]), {})[str(row["loss"]), str(row["other"])] = row
    return found


def _marks(means: dict[str, Estimate], tests: Tests, lower_is_better: bool) -> list[dict[str, Any]]:
    sign = -1.0 if lower_is_better else 1.0
    values = {loss: sign * estimate.mean for loss, estimate in means.items() if estimate.mean is not None}
    better = _better_ones(tests, sign)
    unbeaten = [loss for loss in values if loss not in better] or list(values)
    best = max(unbeaten, key=lambda loss: (values[loss], loss), default="")
    rows = []
    for loss, estimate in means.items():
        test = tests.get((min(loss, best), max(loss, best)), {"p_holm": None, "significant": False, "note": ""})
        above = better.get(loss, []) if loss != best else []
        worse_than = best if best in above else max(above, key=lambda one: (values.get(one, -np.inf), one), default="")
        tied = False if above else None if pd.isna(test["significant"]) else True
        mark = {"best": loss == best, "tied_with_best": tied, "p_holm": test["p_holm"], "note": test["note"]}
        if estimate.mean is None:
            mark |= {"tied_with_best": None, "p_holm": None, "note": "no run has a value"}
        rows.append({"loss": loss, "mean": estimate.mean, **mark, "worse_than": worse_than, **sizes(estimate)})
    return rows


def _better_ones(tests: Tests, sign: float) -> dict[str, list[str]]:
    """For each loss that is significantly worse than some others: these others."""
    found: dict[str, list[str]] = {}
    for (loss, other), test in tests.items():
        if test["significant"] is not pd.NA and test["significant"]:
            worse, better = (other, loss) if sign * float(test["difference"]) > 0 else (loss, other)
            found.setdefault(worse, []).append(better)
    return found
