"""Statistics: tidy frames in, frames out; they know nothing of the runner.

Every row says over how many seeds it is, what its interval carries and how many runs were left out; a number
that cannot be given is <NA>, with a note that says why.
"""

from benchmark.statistics.agreement import Agreement, rank_agreement, tau_b
from benchmark.statistics.comparisons import ALL_DATASETS, MIN_SEEDS, compare, holm, tied_with_best
from benchmark.statistics.measurements import Jackknife
from benchmark.statistics.ranks import CriticalDifference, Ranks, average_ranks, critical_difference
from benchmark.statistics.summary import summarise
from benchmark.statistics.variance import Variance, pseudo_values, seed_variance, two_way_variance

__all__ = [
    "ALL_DATASETS",
    "MIN_SEEDS",
    "Agreement",
    "CriticalDifference",
    "Jackknife",
    "Ranks",
    "Variance",
    "average_ranks",
    "compare",
    "critical_difference",
    "holm",
    "pseudo_values",
    "rank_agreement",
    "seed_variance",
    "summarise",
    "tau_b",
    "tied_with_best",
    "two_way_variance",
]
