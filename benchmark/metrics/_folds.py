"""Accuracy by k folds: the threshold is picked on the other folds, never on the pairs it is scored on."""

import heapq

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from benchmark.metrics._curves import score_counts
from benchmark.metrics._inputs import Bools, Floats, Ints, Measured

FOLDS = 10


def accuracy_on_folds(scores: Floats, same: Bools, folds: Ints | None) -> Measured:
    """Mean accuracy over folds, its standard deviation (n−1) and standard error; None without two folds."""
    if folds is None or len(np.unique(folds)) < 2:
        return {"accuracy": None, "accuracy_std": None, "accuracy_se": None, "n_folds": 0}
    right = decided_rightly(scores, same, folds)
    shares = [float(right[folds == fold].mean()) for fold in np.unique(folds)]
    deviation = float(np.std(shares, ddof=1))
    return {
        "accuracy": float(np.mean(shares)),
        "accuracy_std": deviation,
        "accuracy_se": deviation / len(shares) ** 0.5,
        "n_folds": len(shares),
    }


def decided_rightly(scores: Floats, same: Bools, folds: Ints) -> Bools:
    """For each pair, whether the threshold picked on the other folds decides it rightly."""
    right = np.zeros(len(scores), dtype=np.bool_)
    for fold in np.unique(folds):
        held_out = folds == fold
        threshold = best_threshold(scores[~held_out], same[~held_out])
        right[held_out] = (scores[held_out] >= threshold) == same[held_out]
    return right


def best_threshold(scores: Floats, same: Bools) -> float:
    """The threshold of highest accuracy: midway between two scores, the middle one of those equally good."""
    counts = score_counts(scores, same)
    gain = np.cumsum(np.r_[0, counts.same.astype(np.int64) - counts.different.astype(np.int64)])
    best = np.flatnonzero(gain == gain.max())
    cut = int(best[(len(best) - 1) // 2])
    distinct = counts.score_at(np.arange(len(counts.same)))
    if cut == 0:
        return np.inf
    return float((distinct[cut - 1] + distinct[cut]) / 2) if cut < len(distinct) else -np.inf


def deal_folds(same: Bools, identities: Ints | None, k: int = FOLDS) -> Ints | None:
    """A fold for each pair: with no identity in two folds where that is possible, otherwise dealt in turn.

    `same` (P) says which pairs are of one identity, `identities` (P×2) which identities they are of, if known; `k` is
    the largest number of folds. None where there are too few pairs of either kind for two folds.

    >>> deal_folds(np.array([True, False, True, False]), None, k=2).tolist()
    [0, 0, 1, 1]
    """
    k = min(k, int(same.sum()), int((~same).sum()))
    if k < 2:
        return None
    apart = None if identities is None else _identity_disjoint_folds(same, identities, k)
    if apart is not None:
        return apart
    folds = np.zeros(len(same), dtype=np.int64)
    for kind in (same, ~same):
        folds[kind] = np.arange(kind.sum()) % k
    return folds


def _identity_disjoint_folds(same: Bools, identities: Ints, k: int) -> Ints | None:
    """Identities linked by a pair stay together; the groups go, largest first, to the emptiest fold."""
    names, ends = np.unique(identities, return_inverse=True)
    ends = ends.reshape(identities.shape)
    links = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(names), len(names)))
    n_groups, group_of = connected_components(links, directed=False)
    group = group_of[ends[:, 0]]
    sizes = np.bincount(group, minlength=n_groups)
    emptiest = [(0, fold) for fold in range(k)]
    fold_of = np.zeros(n_groups, dtype=np.int64)
    for g in np.argsort(-sizes, kind="stable"):
        pairs, fold = heapq.heappop(emptiest)
        fold_of[g] = fold
        heapq.heappush(emptiest, (pairs + int(sizes[g]), fold))
    folds: Ints = fold_of[group]
    both_kinds = all(len(np.unique(folds[kind])) == k for kind in (same, ~same))
    return folds if both_kinds else None


def share_identities(identities: Ints | None, folds: Ints | None) -> float | None:
    """1 if an identity occurs in two folds, 0 if none does, None where it cannot be known."""
    if identities is None or folds is None:
        return None
    names, identity = np.unique(identities, return_inverse=True)
    numbers, fold = np.unique(folds, return_inverse=True)
    places = np.unique(identity.ravel() * len(numbers) + np.repeat(fold, 2))
    return float(len(names) < len(places))
