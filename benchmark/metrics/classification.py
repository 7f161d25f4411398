"""Accuracy of the classifier itself, and of the nearest class mean."""

import math

import numpy as np

from benchmark.metrics._curves import on_grid
from benchmark.metrics._frequency import GROUPS, by_frequency, of_groups
from benchmark.metrics._inputs import Bools, Floats, Ints, Measured, Values, as_classes, as_labels, as_matrix, unit_rows
from benchmark.metrics._registry import Metric, measure

TOP = 5


def classification(logits: Values, labels: Values, class_counts: Values | None = None) -> Measured:
    """`accuracy` over samples and `class_accuracy`, the mean over classes; by frequency with `class_counts`.
    `top5_accuracy`, the share whose class is among the five highest logits, where there are more than five classes.

    `logits` are N×C, `labels` N classes 0 … C−1, `class_counts` the training images of each class; `InputError` says
    what does not fit. Where several classes share a logit, each gets an equal share of the places that are left.

    >>> classification([[2.0, 1.0], [2.0, 1.0]], [0, 1])["accuracy"]
    0.5
    """
    credit, classes = classification_per_sample(logits, labels)
    among_five, _ = classification_per_sample(logits, labels, places=TOP)
    is_measured = len(credit) > 0 and as_matrix(logits, "logits").shape[1] > TOP
    top5 = float(among_five.mean()) if is_measured else None
    return {**_summary("accuracy", credit, classes, class_counts), "top5_accuracy": top5}


def classification_per_sample(logits: Values, labels: Values, places: int = 1) -> tuple[Floats, Ints]:
    """1 for a class among the first `places`, 0 for one that is not, a share for ties; and the labels.

    >>> classification_per_sample([[2.0, 1.0], [1.0, 1.0]], [1, 1])[0].tolist()
    [0.0, 0.5]
    """
    matrix = as_matrix(logits, "logits")
    labels = as_classes(labels, len(matrix), matrix.shape[1], "logit")
    return _credit(matrix.astype(np.float64), labels, places), labels


def nearest_class_mean(
    embeddings: Values, labels: Values, centres: Values | None = None, class_counts: Values | None = None
) -> Measured:
    """`ncm_accuracy`: the share whose nearest class centre is their own class's.

    With `centres` (a row a class, zero for none) those of the training images; without, the means of these
    very embeddings, each without the embedding that asks. Zero vectors and samples whose class has no centre
    (or no other image) are left out and counted. `InputError` says what does not fit.

    >>> nearest_class_mean([[1.0, 0.1], [0.1, 1.0]], [0, 0], centres=[[1.0, 0.0], [0.0, 1.0]])["ncm_accuracy"]
    0.5
    """
    matrix = as_matrix(embeddings, "embeddings")
    labels = as_labels(labels, len(matrix))
    unit, has_direction = unit_rows(matrix)
    if centres is None:
        classes, own = np.unique(labels, return_inverse=True)
        scores, measured = _scores_without_oneself(unit, own, len(classes))
    else:
        rows, has_centre = unit_rows(as_matrix(centres, "centres"))
        own = as_classes(labels, len(matrix), len(rows), "centre")
        scores = np.where(has_centre, on_grid(unit @ rows.T), -np.inf)
        measured = has_centre[own]
    measured &= has_direction
    credit = _credit(scores[measured], own[measured])
    found = _summary("ncm_accuracy", credit, labels[measured], class_counts)
    return {**found, "left_out_samples": int((~measured).sum())}


_ACCURACY = Metric(
    "classification_accuracy",
    "Classification accuracy",
    "test images whose class has the highest score; closed sets only",
    place=10,
    main="closed",
)
_NCM = Metric(
    "ncm_accuracy", "NCM accuracy", "test images nearest to the training centre of their own class", place=120
)
_OF_GROUPS = {
    "frequent": "classes of more than 100 training images",
    "medium": "classes of 20 to 100 training images",
    "rare": "classes of fewer than 20 training images",
}


def _count(key: str, heading: str, meaning: str) -> Metric:
    return Metric(key, heading, meaning, "", "neither", (0.0, math.inf), decimals=0, table="")


@measure(
    _ACCURACY,
    Metric("classification_class_accuracy", "Class-mean accuracy", "classification, mean over the classes", place=130),
    *(
        Metric(f"{_ACCURACY.key}_{group}", f"{group.capitalize()} classes", _OF_GROUPS[group], place=140 + place)
        for place, group in enumerate(GROUPS)
    ),
    Metric(
        "classification_top5_accuracy",
        "Top-5 accuracy",
        "test images whose class is among the five highest scores",
        table="",
    ),
    _count("classification_n_samples", "Classified images", "images that the classifier was scored on"),
)
def classification_of_split(logits: Values, labels: Values, class_counts: Values | None = None) -> Measured:
    """`accuracy` alone is verification's key, so those of the classifier begin with `classification_`."""
    found = classification(logits, labels, class_counts)
    return {f"classification_{name}": value for name, value in found.items()}


@measure(
    _NCM,
    Metric("class_ncm_accuracy", "NCM class-mean accuracy", "NCM accuracy, mean over the classes", table=""),
    *of_groups(_NCM),
    _count("n_samples", "NCM images", "images that NCM accuracy was measured on"),
    _count("left_out_samples", "Images left out", "images without a direction or whose class has no centre"),
)
def ncm_of_split(embeddings: Values, labels: Values, centres: Values, class_counts: Values | None = None) -> Measured:
    """By the centres of the training images."""
    return nearest_class_mean(embeddings, labels, centres, class_counts)


def _scores_without_oneself(unit: Floats, own: Ints, num_classes: int) -> tuple[Floats, Bools]:
    sums = np.zeros((num_classes, unit.shape[1]))
    np.add.at(sums, own, unit)
    rest, has_rest = unit_rows(_without_rounding_error(sums[own] - unit))
    rows, has_centre = unit_rows(_without_rounding_error(sums))
    scores = np.where(has_centre, on_grid(unit @ rows.T), -np.inf)
    scores[np.arange(len(unit)), own] = on_grid(np.einsum("nd,nd->n", unit, rest))
    return scores, has_rest


def _without_rounding_error(sums: Floats) -> Floats:
    return np.where(np.linalg.norm(sums, axis=1, keepdims=True) > 1e-7, sums, 0.0)


def _credit(scores: Floats, labels: Ints, places: int = 1) -> Floats:
    own = scores[np.arange(len(labels)), labels][:, None]
    left, alike = places - (scores > own).sum(axis=1), (scores == own).sum(axis=1)
    credit: Floats = np.clip(left / alike, 0.0, 1.0)
    return credit


def _summary(name: str, credit: Floats, labels: Ints, class_counts: Values | None) -> Measured:
    present, kind = np.unique(labels, return_inverse=True)
    per_class = np.bincount(kind, weights=credit) / np.bincount(kind) if len(present) else np.zeros(0)
    return {
        name: float(credit.mean()) if len(credit) else None,
        f"class_{name}": float(per_class.mean()) if len(present) else None,
        **by_frequency(name, credit, labels, class_counts),
        "n_samples": len(credit),
    }
