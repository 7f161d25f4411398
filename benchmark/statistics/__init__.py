"""Statistics: tidy frames in, frames out; they know nothing of the runner.

Every row says how many seeds it is the mean of, what its interval carries and how many runs were left out. An interval
carries the seeds, or the seeds and the test identities, if it covers what others of them would give. A number that
cannot be given is <NA>, with a note that says why.
"""

from benchmark.statistics.agreement import Agreement, rank_agreement, tau_b
from benchmark.statistics.comparisons import (
    MIN_SEEDS,
    Pairing,
    compare,
    compare_pairs,
    compare_pairs_over_datasets,
    every_pair,
    holm,
    tied_with_best,
)
from benchmark.statistics.evidence import RULES, Effect, Needed, Verdict, judge, what_it_takes
from benchmark.statistics.measurements import ALL_DATASETS, Estimate, Jackknife, Term, contrast
from benchmark.statistics.power import detectable_effect, seeds_needed
from benchmark.statistics.ranks import CriticalDifference, Ranks, average_ranks, critical_difference
from benchmark.statistics.summary import (
    CARRIED,
    SEEDS,
    SEEDS_AND_IDENTITIES,
    SEEDS_AND_PAIRS,
    interval_in_words,
    summarise,
)
from benchmark.statistics.variance import Variance, pseudo_values, seed_variance, two_way_variance
