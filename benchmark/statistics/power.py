"""What could have been found: the smallest effect that a test of this precision finds with a given probability.

A test finds a difference d when its p-value (Behrens and Fisher's, see `variance`) is below `alpha`. With the variance
as it was estimated, the smallest such d is √V·t*, and the true effect found with probability `power` is √V·δ where
a noncentral t variable of V's degrees of freedom and noncentrality δ exceeds t* with that probability.

More seeds shrink the seeds' part of V alone. The identities' part stays: where it is too large by itself, no number of
seeds finds the effect.
"""

from dataclasses import replace

import numpy as np
from scipy import optimize, special

from benchmark.statistics.variance import Variance

POWER = 0.8
MOST_SEEDS = 1_000_000


def detectable_effect(variance: Variance, alpha: float = 0.05, power: float = POWER) -> float:
    """The true effect that a test at level `alpha` finds with probability `power`, given the `variance`; 0 without
    variance.

    >>> from benchmark.statistics.variance import seed_variance
    >>> round(detectable_effect(seed_variance(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))), 2)
    2.66
    """
    deviation = float(np.sqrt(variance.variance))
    if deviation == 0.0:
        return 0.0
    high = deviation
    while variance.p_value(np.asarray(high)) > alpha:
        high *= 2.0
    # The difference whose p-value is `alpha`, in standard deviations.
    t = float(optimize.brentq(lambda size: variance.p_value(np.asarray(size)) - alpha, 0.0, high)) / deviation
    return deviation * float(special.nctdtrinc(variance.freedom, 1.0 - power, t))


def seeds_needed(
    variance: Variance, n_seeds: int, effect: float, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """The fewest seeds, `n_seeds` or more, with which a test at level `alpha` finds `effect` with probability
    `power`.

    `variance` is that of `n_seeds` seeds. None: no number of seeds (up to a million) is enough, because of the variance
    over test identities.

    >>> from benchmark.statistics.variance import seed_variance
    >>> seeds_needed(seed_variance(np.array([1.0, 2.0, 3.0, 4.0, 5.0])), n_seeds=5, effect=1.5)
    11
    """

    def finds(seeds: int) -> bool:
        return detectable_effect(_with_seeds(variance, n_seeds, seeds), alpha, power) <= effect

    too_few, enough = n_seeds - 1, n_seeds
    while not finds(enough):
        if enough >= MOST_SEEDS or effect <= 0.0:
            return None
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if finds(middle) else (middle, enough)
    return enough


def _with_seeds(variance: Variance, n_seeds: int, seeds: int) -> Variance:
    """The variance that so many seeds would have, with the same test identities."""
    if seeds == n_seeds:
        return variance
    of_seeds = variance.of_seeds * n_seeds / seeds
    seeds_freedom = np.full_like(of_seeds, seeds - 1)
    spread = of_seeds**2 / seeds_freedom + variance.of_identities**2 / variance.identities_freedom
    total = of_seeds + variance.of_identities
    freedom = np.divide(total**2, spread, out=seeds_freedom.copy(), where=spread > 0)
    return replace(variance, of_seeds=of_seeds, seeds_freedom=seeds_freedom, freedom=freedom)
