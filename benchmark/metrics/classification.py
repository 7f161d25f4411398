"""Accuracy of the classifier itself, and of the nearest class mean."""

import numpy as np

from benchmark.metrics._curves import on_grid
from benchmark.metrics._frequency import GROUPS, by_frequency, of_groups
from benchmark.metrics._inputs import Floats, Ints, Measured, Values, as_classes, as_matrix, unit_rows
from benchmark.metrics._registry import Metric, count, measure

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
    """Which samples are classified rightly, and their labels.

    `logits` are N×C, `labels` N classes 0 … C−1. A sample counts 1 if its class is among the first `places`, 0 if not,
    and a share if it ties for the last place. `InputError` says what does not fit.

    >>> classification_per_sample([[2.0, 1.0], [1.0, 1.0]], [1, 1])[0].tolist()
    [0.0, 0.5]
    """
    matrix = as_matrix(logits, "logits")
    labels = as_classes(labels, len(matrix), matrix.shape[1], "logit")
    return _credit(matrix.astype(np.float64), labels, places), labels


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
    count("classification_n_samples", "Classified images", "images that the classifier was scored on"),
)
def classification_of_split(logits: Values, labels: Values, class_counts: Values | None = None) -> Measured:
    """`accuracy` alone is verification's key, so those of the classifier begin with `classification_`."""
    found = classification(logits, labels, class_counts)
    return {f"classification_{name}": value for name, value in found.items()}


@measure(
    _NCM,
    Metric("class_ncm_accuracy", "NCM class-mean accuracy", "NCM accuracy, mean over the classes", table=""),
    *of_groups(_NCM),
    count("n_samples", "NCM images", "images that NCM accuracy was measured on"),
    count("left_out_samples", "Images left out", "images without a direction or whose class has no centre"),
)
def ncm_of_split(embeddings: Values, labels: Values, centres: Values, class_counts: Values | None = None) -> Measured:
    """`ncm_accuracy`: the share of samples whose nearest class centre is the one of their own class.

    `embeddings` are N×D, `labels` N; `centres` are those of the training images, a row per class, zero for none. With
    `class_counts`, the training images of each class, also by frequency. Zero vectors and samples whose class has no
    centre are left out and counted. `InputError` says what does not fit.

    >>> ncm_of_split([[1.0, 0.1], [0.1, 1.0]], [0, 0], centres=[[1.0, 0.0], [0.0, 1.0]])["ncm_accuracy"]
    0.5
    """
    matrix = as_matrix(embeddings, "embeddings")
    unit, has_direction = unit_rows(matrix)
    rows, has_centre = unit_rows(as_matrix(centres, "centres"))
    own = as_classes(labels, len(matrix), len(rows), "centre")
    scores = np.where(has_centre, on_grid(unit @ rows.T), -np.inf)
    measured = has_centre[own] & has_direction
    found = _summary("ncm_accuracy", _credit(scores[measured], own[measured]), own[measured], class_counts)
    return {**found, "left_out_samples": int((~measured).sum())}


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
