"""Long tails: the same metric for frequent, medium and rare classes."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import InputError
from benchmark.metrics._inputs import Bools, Floats, Ints, Measured, Values, as_array
from benchmark.metrics._registry import Metric

GROUPS = ("frequent", "medium", "rare")
RARE_BELOW, FREQUENT_ABOVE = 20, 100  # training images of a class, as long-tail benchmarks count them


def frequency_groups(class_counts: Values) -> NDArray[np.str_]:
    """`frequent`, `medium` or `rare` for each class; `class_counts` are its training images.

    >>> frequency_groups([150, 50, 5]).tolist()
    ['frequent', 'medium', 'rare']
    """
    counts = as_array(class_counts)
    return np.where(counts < RARE_BELOW, "rare", np.where(counts > FREQUENT_ABOVE, "frequent", "medium"))


def of_groups(*metrics: Metric) -> tuple[Metric, ...]:
    """The declarations of metrics for each group of classes; tables do not show them."""
    return tuple(
        replace(
            metric,
            key=f"{metric.key}_{which}",
            heading=f"{metric.heading}, {which} classes",
            meaning=f"{metric.meaning}; {which} classes",
            table="",
            main="",
            entered=False,
        )
        for metric in metrics
        for which in GROUPS
    )


def by_frequency(name: str, values: Floats, labels: Ints, class_counts: Values | None) -> Measured:
    """Means of per-sample values in each group, None for a group without samples; nothing without counts."""
    if class_counts is None:
        return {}
    groups = frequency_groups(class_counts)
    if len(labels) and (labels.min() < 0 or labels.max() >= len(groups)):
        raise InputError(f"label {labels.max()} has no count: class_counts holds {len(groups)} classes")
    group = groups[labels]
    return {
        f"{name}_{which}": float(values[group == which].mean()) if (group == which).any() else None for which in GROUPS
    }


def pairs_by_frequency(labels: Values, pairs: Values, class_counts: Values) -> dict[str, Bools]:
    """For each group of classes, which `pairs` have an image of it; nothing where all classes are of one group.

    `labels` are N, `pairs` P×2 positions, `class_counts` the training images of each class.

    >>> pairs_by_frequency([0, 0, 1], [[0, 1], [1, 2]], [150, 5])["rare"].tolist()
    [False, True]
    """
    groups = frequency_groups(class_counts)
    present = [which for which in GROUPS if (groups == which).any()]
    group_of_ends = groups[as_array(labels)][as_array(pairs)]
    return {which: (group_of_ends == which).any(axis=1) for which in present} if len(present) > 1 else {}
