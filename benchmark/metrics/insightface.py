"""Verification accuracy as face recognition papers compute it: the protocol of insightface's `verification.py`."""

import numpy as np

from benchmark.errors import InputError
from benchmark.metrics._inputs import Bools, Floats, Measured, Values, as_array, as_matrix, unit_rows
from benchmark.metrics._registry import Metric, measure
from benchmark.metrics.verification import as_pairs

FOLDS = 10
THRESHOLDS: Floats = np.arange(0, 4, 0.01)
"""Of the squared distance between unit vectors."""


@measure(
    Metric(
        "accuracy_insightface",
        "Accuracy (insightface)",
        "as insightface computes it: ten folds in file order, thresholds of the squared distance in steps of 0.01",
        place=25,
    ),
    Metric(
        "accuracy_insightface_std",
        "Accuracy (insightface), SD",
        "its standard deviation over folds (n), which face papers print after ±",
        better="neither",
        table="",
    ),
    splits=("test",),
)
def insightface_verification(embeddings: Values, pairs: Values, same: Values) -> Measured:
    """Accuracy over ten folds of consecutive pairs, the threshold picked on the other nine.

    It differs from `verification` in three ways: folds follow the order of the file and may share identities;
    thresholds are 0, 0.01, …, 3.99 of the squared distance, the lowest of equally good ones; the standard deviation is
    over n folds, not n − 1.

    Args:
        embeddings: N×D, not normalised; for the flip test, the sum of an image's and its mirror image's embedding.
        pairs: P×2 positions of embeddings, in the order of the file.
        same: P booleans.

    Returns:
        `accuracy_insightface` and `accuracy_insightface_std`; both None for fewer than ten pairs.

    Raises:
        InputError: The shapes do not fit, or a position is out of range.

    >>> rows = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]
    >>> insightface_verification(rows, [[0, 1], [0, 2]] * 10, [True, False] * 10)["accuracy_insightface"]
    1.0
    """
    unit, _ = unit_rows(as_matrix(embeddings, "embeddings"))
    pairs, same = as_pairs(pairs, len(unit)), as_array(same).astype(np.bool_)
    if same.shape != (len(pairs),):
        raise InputError(f"same must be {len(pairs)} booleans, got shape {same.shape}")
    if len(pairs) < FOLDS:
        return {"accuracy_insightface": None, "accuracy_insightface_std": None}
    distances: Floats = np.square(unit[pairs[:, 0]] - unit[pairs[:, 1]]).sum(axis=1)
    shares = _share_right_of_each_fold(distances, same)
    return {"accuracy_insightface": float(shares.mean()), "accuracy_insightface_std": float(shares.std())}


def _share_right_of_each_fold(distances: Floats, same: Bools) -> Floats:
    right = (distances[:, None] < THRESHOLDS) == same[:, None]
    sizes = np.full(FOLDS, len(same) // FOLDS) + (np.arange(FOLDS) < len(same) % FOLDS)
    of_fold = np.add.reduceat(right.astype(np.int64), np.r_[0, np.cumsum(sizes)[:-1]], axis=0)
    elsewhere = (of_fold.sum(axis=0) - of_fold) / (len(same) - sizes)[:, None]
    chosen = elsewhere.argmax(axis=1)
    shares: Floats = of_fold[np.arange(FOLDS), chosen] / sizes
    return shares
