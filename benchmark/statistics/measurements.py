"""The tidy frame of results, arranged for one dataset and one metric: losses × seeds; means and sums of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.errors import InputError
from benchmark.statistics.variance import (
    Floats,
    Variance,
    over_datasets,
    pseudo_values,
    seed_variance,
    two_way_variance,
)
from benchmark.text import in_natural_order

KEYS = ["loss", "dataset", "seed"]
ALL_DATASETS = "all datasets"
IDENTITIES, PAIRS = "identities", "pairs"
"""What a jackknife leaves out one at a time; pairs where the column `identities` of the results is "unknown"."""
MIN_IDENTITIES = 5  # with fewer, their variance is a guess, and the interval carries the seeds only

# (loss, dataset, seed) → metric → the metric without each test identity, identities in one order per dataset
Jackknife = Mapping[tuple[str, str, int], Mapping[str, Floats]]


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its variance."""

    mean: float | None  # None: no run has a value
    sd_seeds: float | None = None  # None with fewer than two seeds
    variance: Variance | None = None  # likewise
    n_seeds: int = 0
    n_identities: int = 0  # 0: the variance carries the seeds only
    left_out: int = 0  # runs that diverged, or that the other loss of a pair has and this one has not
    units: str = IDENTITIES  # what n_identities counts: IDENTITIES, PAIRS, or both over several datasets


@dataclass(frozen=True)
class Measurements:
    """What was measured of one metric on one dataset."""

    losses: list[str]
    values: Floats  # losses × seeds, NaN where a run diverged or is missing
    was_run: NDArray[np.bool_]  # losses × seeds
    contributions: Floats | None  # losses × seeds × identities, or pairs
    units: str = IDENTITIES

    def of(self, loss: str) -> Estimate:
        """The loss's mean over its seeds."""
        if loss not in self.losses:
            return Estimate(None)
        row = self.losses.index(loss)
        contributions = None if self.contributions is None else self.contributions[row]
        return estimate(self.values[row], contributions, int(self.was_run[row].sum()), self.units)

    def difference(self, loss: str, baseline: str) -> Estimate:
        """The mean of loss − baseline over the seeds that both have, paired by seed and by test identity."""
        if loss not in self.losses or baseline not in self.losses:
            return Estimate(None)
        one, other = self.losses.index(loss), self.losses.index(baseline)
        parts = self.contributions
        contributions = None if parts is None else parts[one] - parts[other]
        expected = int((self.was_run[one] | self.was_run[other]).sum())
        return estimate(self.values[one] - self.values[other], contributions, expected, self.units)


@dataclass(frozen=True)
class Term:
    """`weight` times the metric of a loss on a dataset."""

    weight: float
    loss: str
    dataset: str


def arrange(results: pd.DataFrame, dataset: str, metric: str, jackknife: Jackknife | None = None) -> Measurements:
    """Losses × seeds of one dataset and metric, with each identity's contribution where it was stored."""
    rows = results[results["dataset"] == dataset]
    losses, loss_of = np.unique(rows["loss"].to_numpy(dtype=str), return_inverse=True)
    seeds, seed_of = np.unique(rows["seed"].to_numpy(), return_inverse=True)
    values = np.full((len(losses), len(seeds)), np.nan)
    values[loss_of, seed_of] = pd.to_numeric(rows[metric]).to_numpy(dtype=np.float64, na_value=np.nan)
    values[~np.isfinite(values)] = np.nan
    was_run = np.zeros(values.shape, dtype=np.bool_)
    was_run[loss_of, seed_of] = True
    names = [str(loss) for loss in losses]
    runs = {
        (row, column): (loss, dataset, seed)
        for row, loss in enumerate(names)
        for column, seed in enumerate(seeds.tolist())
    }
    found = {cell: (jackknife or {}).get(run, {}).get(metric) for cell, run in runs.items()}
    stored = {cell: np.asarray(without, dtype=np.float64) for cell, without in found.items() if without is not None}
    units = PAIRS if "identities" in rows and (rows["identities"] == "unknown").any() else IDENTITIES
    return Measurements(names, values, was_run, _contributions(values, stored, dataset, metric), units)


def arrange_all(results: pd.DataFrame, metric: str, jackknife: Jackknife | None) -> dict[str, Measurements]:
    """The same for every dataset."""
    return {name: arrange(results, name, metric, jackknife) for name in in_natural_order(results["dataset"].unique())}


def mean_over_datasets(estimates: Sequence[Estimate]) -> Estimate:
    """The plain mean over datasets, which has no value if one of them has none."""
    if len(estimates) == 1:
        return estimates[0]
    means = [estimate.mean for estimate in estimates if estimate.mean is not None]
    variances = [estimate.variance for estimate in estimates if estimate.variance is not None]
    return Estimate(
        mean=float(np.mean(means)) if len(means) == len(estimates) else None,
        variance=over_datasets(variances) if len(variances) == len(estimates) else None,
        n_seeds=min(estimate.n_seeds for estimate in estimates),
        n_identities=min(estimate.n_identities for estimate in estimates),
        left_out=sum(estimate.left_out for estimate in estimates),
        units=" and ".join(sorted({estimate.units for estimate in estimates})),
    )


def contrast(results: pd.DataFrame, terms: Sequence[Term], metric: str, jackknife: Jackknife | None = None) -> Estimate:
    """The mean of the sum of `terms` by a `metric`, over the seeds that all of them have; no mean where a term has
    no runs.

    `results`, `jackknife` and errors are those of `compare`. Terms may be of several datasets only if these have the
    same test identities, such as one set at two sizes of the embedding: then the contributions of the identities are
    paired too.

    >>> values = {"a": [0.91, 0.93, 0.92, 0.94, 0.92], "b": [0.90, 0.91, 0.91, 0.92, 0.90]}
    >>> runs = [(loss, "digits", seed, value) for loss in values for seed, value in enumerate(values[loss])]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> round(contrast(results, [Term(1.0, "a", "digits"), Term(-1.0, "b", "digits")], "accuracy").mean, 3)
    0.016
    """
    check_results(results, [metric])
    parts = [results[(results["loss"] == term.loss) & (results["dataset"] == term.dataset)] for term in terms]
    if any(part.empty for part in parts):
        return Estimate(None)
    named = {f"{number:04}": term for number, term in enumerate(terms)}
    joined = pd.concat([part.assign(loss=name, dataset="") for name, part in zip(named, parts, strict=True)])
    runs = [(name, term, seed) for name, term in named.items() for seed in joined["seed"].unique().tolist()]
    stored = {(name, "", seed): (jackknife or {}).get((term.loss, term.dataset, seed), {}) for name, term, seed in runs}
    measured = arrange(joined, "", metric, stored)
    weights, contributions = np.array([term.weight for term in terms]), measured.contributions
    return estimate(
        np.tensordot(weights, measured.values, axes=1),
        None if contributions is None else np.tensordot(weights, contributions, axes=1),
        int(measured.was_run.any(axis=0).sum()),
        measured.units,
    )


def check_results(results: pd.DataFrame, metrics: Sequence[str] | None = None) -> list[str]:
    """The metrics to look at: those asked for, or every numeric column; errors name what is wrong."""
    missing = [name for name in [*KEYS, *(metrics or [])] if name not in results.columns]
    if missing:
        raise InputError(f"results lack the columns {missing}; they have {list(results.columns)}")
    repeated = results[results.duplicated(KEYS)]
    if len(repeated):
        raise InputError(f"results hold {len(repeated)} repeated runs, the first is {repeated[KEYS].iloc[0].to_dict()}")
    if metrics is not None:
        return list(metrics)
    return [name for name in results.columns if name not in KEYS and pd.api.types.is_numeric_dtype(results[name])]


def _contributions(values: Floats, stored: dict[tuple[int, int], Floats], dataset: str, metric: str) -> Floats | None:
    """Pseudo-values of every identity; None without any, NaN for runs that have none."""
    sizes = sorted({without.shape for without in stored.values()})
    if len(sizes) > 1:
        raise InputError(f"{metric} on {dataset}: runs left out different numbers of identities or pairs, {sizes}")
    if not sizes or sizes[0][0] < MIN_IDENTITIES:
        return None
    without = np.full((*values.shape, *sizes[0]), np.nan)
    for cell, kept in stored.items():
        without[cell] = kept
    return pseudo_values(values, without)


def estimate(values: Floats, contributions: Floats | None, expected: int, units: str = IDENTITIES) -> Estimate:
    """The mean over seeds of what is finite, `expected` being the number of runs that there should be."""
    finite = np.isfinite(values)
    values, n = values[finite], int(finite.sum())
    if n < 2:
        return Estimate(float(values[0]) if n else None, n_seeds=n, left_out=expected - n)
    deviation = float(values.std(ddof=1))
    if contributions is None or not np.isfinite(contributions[finite]).all():
        return Estimate(float(values.mean()), deviation, seed_variance(values), n, 0, expected - n)
    variance = two_way_variance(values, contributions[finite])
    return Estimate(float(values.mean()), deviation, variance, n, contributions.shape[-1], expected - n, units)
