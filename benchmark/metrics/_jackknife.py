"""What a metric would have been without each test identity: the raw material of identity variance.

Small enough to be stored with a run, so that statistics need neither embeddings nor pairs.
"""

import numpy as np

from benchmark.errors import InputError
from benchmark.metrics._curves import score_counts
from benchmark.metrics._folds import decided_rightly
from benchmark.metrics._inputs import Bools, Floats, Ints, Values, as_array, as_labels

_CELLS_AT_ONCE = 2**20


def pair_jackknife(
    scores: Values, same: Values, identities: Values, folds: Values | None = None, of_identities: Values | None = None
) -> dict[str, Floats]:
    """For each metric, its value without each identity, in the order of `np.unique(identities)`.

    `scores` and `same` are P, `identities` is P×2; without identity i means without all pairs that it takes part in.
    Metrics that cannot be measured, with all pairs or without one of the identities, are absent. `accuracy` needs the
    `folds` and keeps the thresholds that all pairs gave. `of_identities` names the identities to leave out, where some
    may have no pairs left. `InputError` where the lengths do not fit.

    >>> identities = [[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [0, 2]]
    >>> pair_jackknife([0.9, 0.8, 0.3, 0.1, 0.2, 0.4], [1, 1, 1, 0, 0, 0], identities)["auc"].tolist()
    [1.0, 0.5, 1.0]
    """
    scores = as_array(scores).astype(np.float64)
    same, identities = as_array(same).astype(np.bool_), as_array(identities)
    if identities.shape != (len(scores), 2) or same.shape != scores.shape:
        raise InputError(f"{len(scores)} scores do not fit same {same.shape} and identities {identities.shape}")
    names = np.unique(identities if of_identities is None else as_array(of_identities))
    ends: Ints = np.searchsorted(names, identities.ravel()).reshape(identities.shape)
    second = np.flatnonzero(ends[:, 0] != ends[:, 1])  # a same pair has one identity, not two
    pair_of, identity_of = np.r_[np.arange(len(ends)), second], np.r_[ends[:, 0], ends[second, 1]]
    values = _rates_without_each(scores, same, pair_of, identity_of, len(names))
    if folds is not None:
        folds = as_labels(folds, len(scores), "folds")
        accuracy = _accuracy_without_each(scores, same, folds, pair_of, identity_of, len(names))
        values = {"accuracy": accuracy, **values} if accuracy is not None else values
    return values


def _accuracy_without_each(
    scores: Floats, same: Bools, folds: Ints, pair_of: Ints, identity_of: Ints, n: int
) -> Floats | None:
    right = decided_rightly(scores, same, folds)
    names, fold = np.unique(folds, return_inverse=True)
    cell = identity_of * len(names) + fold[pair_of]
    shape, cells = (n, len(names)), n * len(names)
    pairs = np.bincount(fold) - np.bincount(cell, minlength=cells).reshape(shape)
    gone = np.bincount(cell, weights=right[pair_of], minlength=cells).reshape(shape)
    hits = np.bincount(fold, weights=right) - gone
    if len(names) < 2 or (pairs == 0).all(axis=1).any():
        return None
    share = np.divide(hits, pairs, out=np.zeros(shape), where=pairs > 0)
    without: Floats = share.sum(axis=1) / (pairs > 0).sum(axis=1)
    return without


def _rates_without_each(scores: Floats, same: Bools, pair_of: Ints, identity_of: Ints, n: int) -> dict[str, Floats]:
    """EER, AUC and TAR at FAR from the counts of each score, a block of identities at a time."""
    counts = score_counts(scores, same)
    position = np.searchsorted(-counts.score_at(np.arange(len(counts.same))), -scores)
    width = len(counts.same)
    height = max(1, _CELLS_AT_ONCE // max(width, 1))
    blocks = []
    for first in range(0, n, height):
        rows = min(height, n - first)
        part = (identity_of >= first) & (identity_of < first + rows)
        cell = (identity_of[part] - first) * width + position[pair_of[part]]
        kind = same[pair_of[part]]
        gone_same = np.bincount(cell[kind], minlength=rows * width).reshape(rows, width)
        gone_different = np.bincount(cell[~kind], minlength=rows * width).reshape(rows, width)
        left_same, left_different = counts.same - gone_same, counts.different - gone_different
        if not (left_same.any(axis=1).all() and left_different.any(axis=1).all()):
            return {}
        blocks.append(_rates_of_rows(left_same, left_different, counts.fars))
    return {name: np.concatenate([block[name] for block in blocks]) for name in (blocks[0] if blocks else ())}


def _rates_of_rows(same: Ints, different: Ints, fars: dict[str, float]) -> dict[str, Floats]:
    """As in `curves`, for many sets of counts at once."""
    start = np.zeros((len(same), 1))
    tar = np.hstack([start, np.cumsum(same, axis=1) / same.sum(axis=1, keepdims=True)])
    far = np.hstack([start, np.cumsum(different, axis=1) / different.sum(axis=1, keepdims=True)])
    row = np.arange(len(same))
    excess = tar + far - 1.0
    after = np.argmax(excess >= 0, axis=1)
    low, high, before = excess[row, after - 1], excess[row, after], far[row, after - 1]
    return {
        "eer": before - low / (high - low) * (far[row, after] - before),
        "auc": (np.diff(far, axis=1) * (tar[:, 1:] + tar[:, :-1])).sum(axis=1) / 2,
        **{f"tar@far={name}": tar[row, (far <= limit).sum(axis=1) - 1] for name, limit in fars.items()},
    }
