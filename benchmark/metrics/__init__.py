"""Metrics: arrays or CPU tensors in, plain numbers out; they know nothing of the runner.

A figure that cannot be measured on its input is None, never NaN, and what was left out is counted beside it.
"""

from benchmark.metrics._columns import CLASSIFICATION, COLUMNS, VERIFICATION, Group, MetricColumn, measured, primary
from benchmark.metrics.allpairs import all_pairs_curve, all_pairs_verification
from benchmark.metrics.calibration import LOWER_IS_BETTER as OF_CALIBRATION
from benchmark.metrics.calibration import calibration, reliability
from benchmark.metrics.classification import classification, classification_per_sample, nearest_class_mean
from benchmark.metrics.curves import LOWER_IS_BETTER as OF_CURVES
from benchmark.metrics.curves import Curve, curve, score_counts
from benchmark.metrics.folds import deal_folds
from benchmark.metrics.frequency import frequency_groups, pairs_by_frequency
from benchmark.metrics.geometry import Centres, class_centres, geometry, geometry_from_centres
from benchmark.metrics.jackknife import mean_jackknife, pair_jackknife
from benchmark.metrics.retrieval import retrieval, retrieval_per_query
from benchmark.metrics.verification import pair_scores, verification, verification_jackknife

# Of the figures that have a better side; an angle has none by itself.
LOWER_IS_BETTER = OF_CURVES | OF_CALIBRATION

__all__ = [
    "CLASSIFICATION",
    "COLUMNS",
    "LOWER_IS_BETTER",
    "VERIFICATION",
    "Centres",
    "Curve",
    "Group",
    "MetricColumn",
    "all_pairs_curve",
    "all_pairs_verification",
    "calibration",
    "class_centres",
    "classification",
    "classification_per_sample",
    "curve",
    "deal_folds",
    "frequency_groups",
    "geometry",
    "geometry_from_centres",
    "mean_jackknife",
    "measured",
    "nearest_class_mean",
    "pair_jackknife",
    "pair_scores",
    "pairs_by_frequency",
    "primary",
    "reliability",
    "retrieval",
    "retrieval_per_query",
    "score_counts",
    "verification",
    "verification_jackknife",
]
