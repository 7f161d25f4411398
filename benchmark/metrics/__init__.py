"""Metrics: arrays or CPU tensors in, plain numbers out; they know nothing of the runner.

A value that cannot be measured on its input is None, never NaN, and what was left out is counted beside it. A file of
this folder whose name has no underscore declares its metrics with `@measure`; nothing else needs to know of it.
"""

from benchmark.metrics._allpairs import all_pairs_verification
from benchmark.metrics._columns import (
    MetricColumn,
    column,
    columns,
    has_value,
    keys,
    main_column,
    main_columns,
    measured,
)
from benchmark.metrics._curves import Curve, curve, score_counts
from benchmark.metrics._folds import deal_folds
from benchmark.metrics._frequency import frequency_groups, pairs_by_frequency
from benchmark.metrics._jackknife import pair_jackknife
from benchmark.metrics._registry import MEASURES, Measure, Metric, TableName, measure
from benchmark.metrics.calibration import calibration
from benchmark.metrics.classification import classification, classification_per_sample, ncm_of_split
from benchmark.metrics.geometry import Centres, class_centres, geometry, geometry_from_centres
from benchmark.metrics.retrieval import retrieval, retrieval_per_query
from benchmark.metrics.verification import pair_scores, verification, verification_jackknife
