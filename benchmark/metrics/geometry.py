"""How classes lie on the sphere: embeddings around centres, centres and class weights around each other."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmark.errors import InputError
from benchmark.metrics._angles import mean_cross_angle, row_angles, spread
from benchmark.metrics._inputs import (
    Bools,
    Floats,
    Ints,
    Measured,
    Values,
    as_array,
    as_classes,
    as_labels,
    as_matrix,
    rows_where,
    unit_rows,
)
from benchmark.metrics._registry import Metric, count, measure

_ROWS_AT_ONCE = 2**13
_NO_DIRECTION = 1e-7  # a mean of unit vectors shorter than this is rounding error


@dataclass(frozen=True)
class Centres:
    """All that geometry needs of a split: a few numbers per class instead of its embeddings."""

    centres: Floats  # C×D unit rows; a zero row has no direction (empty class, or embeddings that cancel out)
    counts: Ints  # embeddings of the class that have a direction
    mean_angles: Floats  # mean degrees between the class's embeddings and its centre; 0 without a centre
    left_out_embeddings: int  # zero vectors


def class_centres(embeddings: Values, labels: Values, num_classes: int | None = None) -> Centres:
    """Centre, count and mean angle of every class 0 … C−1, from `embeddings` (N×D) and `labels` (N).

    `num_classes` is C; without it, the largest label decides. `InputError` says what does not fit.

    >>> class_centres([[1.0, 0.0], [0.0, 2.0]], [0, 0]).mean_angles.round(6).tolist()
    [45.0]
    """
    matrix = as_matrix(embeddings, "embeddings")
    if num_classes is None:
        num_classes = int(as_labels(labels, len(matrix)).max(initial=-1)) + 1
    labels = as_classes(labels, len(matrix), num_classes, "class or weight row")
    sums = np.zeros((num_classes, matrix.shape[1]))
    counts = np.zeros(num_classes, dtype=np.int64)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        unit, has_direction = unit_rows(matrix[start : start + _ROWS_AT_ONCE])
        label = labels[start : start + _ROWS_AT_ONCE]
        order = np.argsort(label, kind="stable")
        first = np.flatnonzero(np.diff(label[order], prepend=-1))
        sums[label[order][first]] += np.add.reduceat(unit[order], first, axis=0)
        counts += np.bincount(label[has_direction], minlength=num_classes)
    lengths = np.sqrt(np.einsum("cd,cd->c", sums, sums))
    short = lengths <= _NO_DIRECTION * np.maximum(counts, 1)
    sums[short] = 0.0
    centres, has_centre = unit_rows(sums)
    del sums
    totals = np.zeros(num_classes)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        unit, has_direction = unit_rows(matrix[start : start + _ROWS_AT_ONCE])
        label = labels[start : start + _ROWS_AT_ONCE]
        measured = has_direction & has_centre[label]
        angles = row_angles(unit[measured], centres[label[measured]])
        totals += np.bincount(label[measured], weights=angles, minlength=num_classes)
    return Centres(centres, counts, totals / np.maximum(counts, 1), len(matrix) - int(counts.sum()))


_degrees = partial(Metric, unit="°", better="neither", range=(0.0, 180.0), decimals=1, table="geometry")
_OF_CENTRES = (
    _degrees("intra", "Intra", "an embedding to its class's centre", place=210),
    _degrees("c_inter", "C-Inter", "centres of two classes, mean over all pairs", place=240),
    _degrees("c_inter_min", "C-Inter-min", "a class's centre to the nearest other one", place=250),
    count("left_out_classes", "Classes left out", "classes without embeddings, or whose embeddings cancel out"),
)


@measure(
    _degrees("w_inter", "W-Inter", "weight vectors of two classes, mean over all pairs", place=220),
    _degrees(
        "w_inter_min", "W-Inter-min", "a class's weight vector to the nearest other one, mean over classes", place=230
    ),
    count("left_out_weights", "Weights left out", "class weights without a direction"),
    splits=(),
)
def geometry_of_weights(weight: Values) -> Measured:
    """Between the class weights; those without a direction are left out and counted."""
    rows, has_weight = unit_rows(as_matrix(weight, "weight"))
    mean, nearest = spread(rows_where(has_weight, rows))
    return {"w_inter": mean, "w_inter_min": nearest, "left_out_weights": int((~has_weight).sum())}


@measure(
    _degrees("wc_intra", "WC-Intra", "training images: a class's centre to its weight vector", place=200),
    _degrees("cw_inter", "CW-Inter", "training images: a class's centre to other classes' weight vectors", table=""),
    *_OF_CENTRES,
    splits=("train",),
)
def geometry_of_training(
    centres: Values, class_counts: Values, mean_angles: Values, weight: Values | None = None
) -> Measured:
    """Around the stored centres of the training images."""
    rows, has_centre = unit_rows(as_matrix(centres, "centres"))
    counts = as_labels(class_counts, len(rows), "counts")
    angles = as_array(mean_angles).astype(np.float64)
    if angles.shape != (len(rows),) or not np.isfinite(angles).all():
        raise InputError(f"mean_angles must be {len(rows)} finite numbers, got shape {angles.shape}")
    has_centre &= counts > 0
    mean, nearest = spread(rows_where(has_centre, rows))
    n_around = int(counts[has_centre].sum())
    return {
        **({} if weight is None else _between(rows, has_centre, as_matrix(weight, "weight"))),
        "c_inter": mean,
        "c_inter_min": nearest,
        "intra": float(angles[has_centre] @ counts[has_centre] / n_around) if n_around else None,
        "left_out_classes": int((~has_centre).sum()),
    }


@measure(*_OF_CENTRES, count("left_out_embeddings", "Embeddings left out", "embeddings without a direction"))
def geometry_of_split(embeddings: Values, labels: Values) -> Measured:
    """Around the centres of these very embeddings."""
    return geometry(embeddings, labels)


def geometry(embeddings: Values, labels: Values, weight: Values | None = None) -> Measured:
    """Angles in degrees between embeddings, class centres and class weights.

    `wc_intra`: centre to its weight; `w_inter`, `c_inter`, `cw_inter`: weight to weight, centre to centre,
    centre to another class's weight, means over all pairs of classes; `w_inter_min`, `c_inter_min`: means
    over classes of the angle to the nearest other class; `intra`: embedding to its centre. Empty classes,
    zero vectors and classes whose embeddings cancel out are left out and counted; None if nothing is left.
    `embeddings` are N×D, `labels` N classes 0 … C−1, `weight` is C×D; `InputError` says what does not fit.

    >>> round(geometry([[1.0, 0.0], [0.0, 2.0]], [0, 1])["c_inter"], 6)
    90.0
    """
    weights = None if weight is None else as_matrix(weight, "weight")
    found = class_centres(embeddings, labels, None if weights is None else len(weights))
    of_classes = geometry_from_centres(found.centres, found.counts, found.mean_angles, weights)
    return {**of_classes, "left_out_embeddings": found.left_out_embeddings}


def geometry_from_centres(
    centres: Values, counts: Values, mean_angles: Values, weight: Values | None = None
) -> Measured:
    """The metrics of `geometry` from what `class_centres` gives.

    `centres` are C×D, `counts` and `mean_angles` (degrees) C; with `weight` (C×D), also the metrics of the class
    weights. `InputError` says what does not fit.

    >>> round(geometry_from_centres([[1.0, 0.0], [0.0, 1.0]], [3, 1], [10.0, 30.0])["intra"], 6)
    15.0
    """
    of_weights = {} if weight is None else geometry_of_weights(weight)
    return {**geometry_of_training(centres, counts, mean_angles, weight), **of_weights}


def _between(centres: Floats, has_centre: Bools, weight: Floats) -> Measured:
    """What lies between centres and weights."""
    if weight.shape != centres.shape:
        raise InputError(f"centres have shape {centres.shape}, but weight has shape {weight.shape}")
    rows, has_weight = unit_rows(weight)
    both = has_centre & has_weight
    centres, of_centres = rows_where(both, centres), rows_where(both, rows)
    return {
        "wc_intra": float(row_angles(centres, of_centres).mean()) if both.any() else None,
        "cw_inter": mean_cross_angle(centres, of_centres),
    }
