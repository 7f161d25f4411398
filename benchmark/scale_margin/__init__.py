"""Maps over scale and margin: the effect of each alone, from the tidy frame of an experiment that varies them.

    rows = with_settings(table, classes)                  # adds s and m of each run
    margin_effects(rows, metric_columns, jackknife)       # loss − normface at the same scale
    chosen_on_validation(rows, metric_columns)            # each loss's best setting on validation data
    failures(rows, metric_columns, classes)               # where training fails
    gradient_effects(table, metric_columns, jackknife)    # detached − exact, if nothing else differs

`metric_columns` says for each dataset by which metric. All take frames and know nothing of the runner.
"""

from benchmark.scale_margin.choices import chosen_on_validation
from benchmark.scale_margin.effects import (
    REFERENCE,
    margin_effects,
    margin_effects_over_datasets,
    margin_pairs,
    why_no_margin_effects,
)
from benchmark.scale_margin.failures import failures
from benchmark.scale_margin.gradients import gradient_effects, gradient_effects_over_datasets, gradient_pairs
from benchmark.scale_margin.settings import scale_and_margin, scales_of, why_no_scales, with_settings
from benchmark.scale_margin.sizes import Sizes, classes_of, training_sizes
