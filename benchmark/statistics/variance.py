"""The variance of a mean over seeds, as an estimate for other seeds and other test identities.

The model is two-way: value[seed, identity] = mean + seed effect + identity effect + the rest. With S seeds
and I identities, all of the same test set,

    V = V_seeds + V_identities − V_rest

    V_seeds       variance over seeds of the metric ÷ S
    V_identities  variance over identities of their contribution, averaged over seeds, ÷ I
    V_rest        interaction mean square ÷ (S·I): inside both of the others, so it is taken off once

V is never taken smaller than either part. The interval is Student's t with Satterthwaite's degrees of
freedom, V² ÷ (V_seeds²/(S−1) + V_identities²/(I−1) + V_rest²/((S−1)(I−1))).

Its far tails are too light with few seeds (p < .0001 came up 15 times too often with 5), and that is where a
corrected test looks. So p-values are Behrens and Fisher's: the two parts keep their own t distributions,
√V_seeds·t(S−1) + √(V − V_seeds)·t(I−1). In simulation they kept their rate far into the tail, but
near .05 they are up to twice too large, so that an interval may exclude 0 although p is a little above .05.

An identity's contribution to a metric that is not a mean (EER, AUC, TAR) is its jackknife pseudo-value
I·m − (I−1)·m₍₋ᵢ₎, which for a mean over identities is the identity's own value.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

# Nodes and steps of an integral over the whole line: dense near 0, far enough for the tails of t(4).
_NODES = np.sinh(np.linspace(-9.0, 9.0, 181))
_STEPS = np.sqrt(1.0 + _NODES**2) * 0.1


@dataclass(frozen=True)
class Variance:
    """The variance of a mean over seeds, in its two parts (arrays for many benchmarks at once)."""

    of_seeds: Floats
    of_identities: Floats  # without what is already inside the seeds' part; 0 if not known
    seeds_freedom: Floats
    identities_freedom: Floats
    freedom: Floats  # of the sum

    @property
    def variance(self) -> Floats:
        return self.of_seeds + self.of_identities

    def half_width(self, level: float = 0.95) -> Floats:
        """Half of the interval that holds the true mean with this probability."""
        width: Floats = special.stdtrit(self.freedom, (1 + level) / 2) * np.sqrt(self.variance)
        return width

    def p_value(self, difference: Floats) -> Floats:
        """Two-sided p of a true difference of zero: how often the two t variables add up to so much."""
        parts = np.sqrt([self.of_seeds, self.of_identities])
        freedoms = np.array([self.seeds_freedom, self.identities_freedom])
        seeds_are_more = parts[0] >= parts[1]
        more, less = parts.max(axis=0)[..., None], parts.min(axis=0)[..., None]
        more_freedom = np.where(seeds_are_more, *freedoms)[..., None]
        less_freedom = np.where(seeds_are_more, *freedoms[::-1])[..., None]
        weights = (1 + _NODES**2 / less_freedom) ** (-(less_freedom + 1) / 2) * _STEPS  # t's density
        tails = special.stdtr(more_freedom, (less * _NODES - np.abs(difference)[..., None]) / more)
        p: Floats = 2 * (weights * tails).sum(axis=-1) / weights.sum(axis=-1)
        return np.minimum(p, 1.0)


def seed_variance(values: Floats) -> Variance:
    """The variance of the mean of `values` over seeds (the last axis): what another run on the same test set would
    give.

    >>> float(seed_variance(np.array([1.0, 2.0, 3.0])).variance.round(3))
    0.333
    """
    seeds = values.shape[-1]
    of_seeds = values.var(axis=-1, ddof=1) / seeds
    freedom = np.full_like(of_seeds, seeds - 1)
    return Variance(of_seeds, np.zeros_like(of_seeds), freedom, freedom, freedom)


def two_way_variance(values: Floats, contributions: Floats) -> Variance:
    """The variance of a mean over seeds and identities.

    `values` end in the axis of seeds, `contributions` in seeds × identities.

    >>> contributions = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])
    >>> float(two_way_variance(contributions.mean(axis=-1), contributions).variance.round(3))
    0.583
    """
    seeds, identities = contributions.shape[-2:]
    over_seeds = contributions.mean(axis=-2, keepdims=True)
    rest = contributions - contributions.mean(axis=-1, keepdims=True) - over_seeds
    rest += contributions.mean(axis=(-2, -1), keepdims=True)
    of_seeds = values.var(axis=-1, ddof=1) / seeds
    of_identities = over_seeds[..., 0, :].var(axis=-1, ddof=1) / identities
    rest_freedom = (seeds - 1) * (identities - 1)
    of_rest = (rest**2).sum(axis=(-2, -1)) / rest_freedom / (seeds * identities)
    beyond_seeds = np.maximum(of_identities - np.minimum(of_rest, of_seeds), 0.0)
    spread = of_seeds**2 / (seeds - 1) + of_identities**2 / (identities - 1) + of_rest**2 / rest_freedom
    seeds_freedom = np.full_like(of_seeds, seeds - 1)
    total = of_seeds + beyond_seeds
    freedom = np.divide(total**2, spread, out=seeds_freedom.copy(), where=spread > 0)
    return Variance(of_seeds, beyond_seeds, seeds_freedom, np.full_like(of_seeds, identities - 1), freedom)


def pseudo_values(values: Floats, without: Floats) -> Floats:
    """Each identity's contribution, from the `values` of a metric and the values `without` each identity (last
    axis).

    >>> pseudo_values(np.array(2.0), np.array([2.5, 2.0, 1.5])).tolist()
    [1.0, 2.0, 3.0]
    """
    identities = without.shape[-1]
    contributions: Floats = identities * values[..., None] - (identities - 1) * without
    return contributions


def over_datasets(variances: list[Variance]) -> Variance:
    """The variance of the plain mean over these very datasets, whose seeds and identities are independent."""
    parts = [np.array([getattr(part, field.name) for part in variances]) for field in fields(Variance)]
    of_seeds, of_identities, seeds_freedom, identities_freedom, freedom = parts
    of_seeds, of_identities = of_seeds / len(variances) ** 2, of_identities / len(variances) ** 2
    return Variance(
        of_seeds.sum(axis=0),
        of_identities.sum(axis=0),
        _satterthwaite(of_seeds, seeds_freedom),
        _satterthwaite(of_identities, identities_freedom),
        _satterthwaite(of_seeds + of_identities, freedom),
    )


def _satterthwaite(parts: Floats, freedoms: Floats) -> Floats:
    """Degrees of freedom of a sum of variances (over the first axis)."""
    spread = (parts**2 / freedoms).sum(axis=0)
    without_variance = np.asarray(freedoms.sum(axis=0))
    freedom: Floats = np.divide(parts.sum(axis=0) ** 2, spread, out=without_variance, where=spread > 0)
    return freedom
