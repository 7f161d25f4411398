"""Do published and measured values put losses in the same order?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.statistics.comparisons import MIN_SEEDS
from benchmark.statistics.variance import Floats

FEWEST_ROWS = 6
DRAWS = 4000


@dataclass(frozen=True)
class Agreement:
    """Kendall's τ-b of two orders: 1 the same, −1 the reverse, 0 neither."""

    tau: float | None  # None: too few rows, or one of the orders ties them all
    low: float | None = None  # None with too few seeds
    high: float | None = None
    rows: int = 0
    note: str = ""


def rank_agreement(published: Sequence[float], measured: Floats, level: float = 0.95) -> Agreement:
    """Whether `published` values (rows) and `measured` ones (rows × seeds, NaN: no value) put the rows in the same
    order.

    The interval, of probability `level`, is of these very rows. It includes the seeds, drawn again with replacement for
    all rows together, because runs are paired by seed; deviations are stretched by √(n/(n−1)), because few seeds vary
    too little among themselves. Published values count as exact. The draws are the same at every call.

    >>> rank_agreement([1, 2, 3, 4, 5, 6], np.arange(6.0)[:, None] + np.zeros(5)).tau
    1.0
    """
    has_value = np.isfinite(measured).any(axis=1)
    first, values = np.asarray(published, dtype=np.float64)[has_value], measured[has_value]
    rows, seeds = values.shape
    if rows < FEWEST_ROWS:
        return Agreement(None, rows=rows, note=f"{rows} rows; an order is compared from {FEWEST_ROWS} on")
    means = np.nanmean(values, axis=1)
    tau = float(tau_b(first, means))
    if np.isnan(tau):
        return Agreement(None, rows=rows, note="one of the two orders ties all rows")
    if seeds < MIN_SEEDS:
        return Agreement(tau, rows=rows, note=f"{seeds} seed(s); an interval is drawn from {MIN_SEEDS} on")
    drawn = _drawn_means(values, means)
    spread = tau_b(first, drawn)
    low, high = np.nanquantile(spread, [(1 - level) / 2, (1 + level) / 2])
    return Agreement(tau, float(low), float(high), rows)


def tau_b(first: Floats, second: Floats) -> Floats:
    """Kendall's τ-b of `first` and `second` over the last axis; NaN where one side is all ties.

    >>> float(tau_b(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])))
    -1.0
    """
    one, other = np.triu_indices(first.shape[-1], 1)
    signs, against = np.sign(first[..., one] - first[..., other]), np.sign(second[..., one] - second[..., other])
    untied = np.sqrt(np.abs(signs).sum(axis=-1) * np.abs(against).sum(axis=-1))
    score = (signs * against).sum(axis=-1)
    found: Floats = np.divide(score, untied, out=np.full_like(untied, np.nan), where=untied > 0)
    return found


def _drawn_means(values: Floats, means: Floats) -> Floats:
    """Draws × rows; draws in which some row has no value at all are left out."""
    seeds = values.shape[1]
    chosen = np.random.default_rng(0).integers(seeds, size=(DRAWS, seeds))
    weights = np.stack([(chosen == seed).sum(axis=1) for seed in range(seeds)], axis=1)
    present = np.isfinite(values)
    totals = weights @ np.where(present, values, 0.0).T
    counts = weights @ present.T
    kept = (counts > 0).all(axis=1)
    stretched: Floats = means + (totals[kept] / counts[kept] - means) * np.sqrt(seeds / (seeds - 1))
    return stretched
