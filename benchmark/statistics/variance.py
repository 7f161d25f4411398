"""How sure a mean over seeds is, as an estimate for other seeds and other test identities.

The model is two-way: value[seed, identity] = mean + seed effect + identity effect + the rest. With S seeds
and I identities, all of the same test set,

    V = V_seeds + V_identities − V_rest

    V_seeds       variance over seeds of the metric ÷ S
    V_identities  variance over identities of their contribution, averaged over seeds, ÷ I
    V_rest        interaction mean square ÷ (S·I): inside both of the others, so it is taken off once

V is never taken smaller than either part. Its degrees of freedom are Satterthwaite's,
V² ÷ (V_seeds²/(S−1) + V_identities²/(I−1) + V_rest²/((S−1)(I−1))), and the interval is Student's t.

An identity's contribution to a metric that is no mean (EER, AUC, TAR) is its jackknife pseudo-value
I·m − (I−1)·m₍₋ᵢ₎, which for a mean over identities is the identity's own value.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Variance:
    """The variance of a mean over seeds, with its degrees of freedom (arrays for many benchmarks at once)."""

    variance: Floats
    freedom: Floats

    def half_width(self, level: float = 0.95) -> Floats:
        """Half of the interval that holds the true mean with this probability."""
        width: Floats = stats.t.ppf((1 + level) / 2, self.freedom) * np.sqrt(self.variance)
        return width

    def p_value(self, difference: Floats) -> Floats:
        """Two-sided p of a true difference of zero."""
        p: Floats = 2 * stats.t.sf(np.abs(difference) / np.sqrt(self.variance), self.freedom)
        return p


def seed_variance(values: Floats) -> Variance:
    """Seeds only: what another run on the same test set would give. The last axis is the seeds."""
    seeds = values.shape[-1]
    variance = values.var(axis=-1, ddof=1) / seeds
    return Variance(variance, np.full_like(variance, seeds - 1))


def two_way_variance(values: Floats, contributions: Floats) -> Variance:
    """Seeds and identities. `values` ends in the axis of seeds, `contributions` in seeds × identities."""
    seeds, identities = contributions.shape[-2:]
    over_seeds = contributions.mean(axis=-2, keepdims=True)
    rest = contributions - contributions.mean(axis=-1, keepdims=True) - over_seeds
    rest += contributions.mean(axis=(-2, -1), keepdims=True)
    of_seeds = values.var(axis=-1, ddof=1) / seeds
    of_identities = over_seeds[..., 0, :].var(axis=-1, ddof=1) / identities
    rest_freedom = (seeds - 1) * (identities - 1)
    of_rest = (rest**2).sum(axis=(-2, -1)) / rest_freedom / (seeds * identities)
    variance = np.maximum(of_seeds + of_identities - of_rest, np.maximum(of_seeds, of_identities))
    spread = of_seeds**2 / (seeds - 1) + of_identities**2 / (identities - 1) + of_rest**2 / rest_freedom
    freedom = np.divide(variance**2, spread, out=np.full_like(variance, seeds - 1), where=spread > 0)
    return Variance(variance, freedom)


def pseudo_values(values: Floats, without: Floats) -> Floats:
    """Each identity's contribution, from the metric and the metric without each identity (last axis)."""
    identities = without.shape[-1]
    contributions: Floats = identities * values[..., None] - (identities - 1) * without
    return contributions


def over_datasets(variances: list[Variance]) -> Variance:
    """The variance of the plain mean over these very datasets, whose seeds and identities are independent."""
    parts = np.array([float(part.variance) for part in variances])
    freedoms = np.array([float(part.freedom) for part in variances])
    spread = (parts**2 / freedoms).sum()
    freedom = parts.sum() ** 2 / spread if spread > 0 else freedoms.sum()
    return Variance(np.asarray(parts.sum() / len(parts) ** 2), np.asarray(freedom))
