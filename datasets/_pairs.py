"""Draws verification pairs: fixed by labels and seed, without repeats, in folds that share as little as possible."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets._data import Pairs, ProtocolName
from datasets._draws import Draws, Whole

FOLDS = 10
WANTED = 10_000  # of each kind, so that ten pairs decide a false accept rate of 1e-3


def draw_pairs(labels: Tensor, protocol: ProtocolName, *key: int | str, wanted: int = WANTED) -> Pairs:
    """Up to `wanted` pairs of each kind, with every identity (and pair of identities) equally often.

    Folds share no identity if possible: in an open set of at least four identities, and in a closed set of at least
    two classes per fold. Otherwise they share no image if that leaves enough pairs, and never a pair.
    """
    draws = Draws("pairs", *key)
    classes = labels.numpy()
    for fold_of_image in _ways_to_fold(classes, protocol, draws):
        parts = [np.flatnonzero(fold_of_image == fold) for fold in np.unique(fold_of_image)]
        if len(parts) > 1 and (protocol == "open" or _have_enough(classes, parts, wanted)):
            return _pairs_in_folds(classes, parts, wanted, draws)
    return _pairs_anywhere(classes, wanted, draws)


def _ways_to_fold(classes: Whole, protocol: ProtocolName, draws: Draws) -> list[Whole]:
    """Fold of each image: by identity, then by image."""
    ways = []
    count = int(classes.max(initial=-1)) + 1
    folds = min(FOLDS, count // 2)
    if folds == FOLDS or (protocol == "open" and folds > 1):
        ways.append((draws.permutation(count) % folds)[classes])
    if protocol == "closed":
        by_image = np.empty(len(classes), dtype=np.int64)
        for members in members_of(classes):
            by_image[members[draws.permutation(len(members))]] = np.arange(len(members)) % FOLDS
        ways.append(by_image)
    return ways


def members_of(classes: Whole) -> list[Whole]:
    """The images of each class that has any."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order])) + 1
    return [part.astype(np.int64) for part in np.split(order, starts)] if len(order) else []


def _have_enough(classes: Whole, parts: list[Whole], wanted: int) -> bool:
    """The wanted number of pairs of each kind inside the parts, or as many as exist."""
    inside = np.sum([_possible(classes[part]) for part in parts], axis=0)
    return bool((inside >= np.minimum(_possible(classes), wanted)).all())


def _possible(classes: Whole) -> tuple[int, int]:
    """The number of pairs of the same class, and of different classes."""
    counts = np.bincount(classes)
    same = int((counts * (counts - 1)).sum()) // 2
    return same, len(classes) * (len(classes) - 1) // 2 - same


def _pairs_in_folds(classes: Whole, parts: list[Whole], wanted: int, draws: Draws) -> Pairs:
    room = np.array([_possible(classes[part]) for part in parts])
    positives, negatives = (share_out(room[:, kind], wanted, draws) for kind in (0, 1))
    pairs, same, fold = [], [], []
    for number, part in enumerate(parts):
        members = [part[inside] for inside in members_of(classes[part])]
        found = [_positives(members, int(positives[number]), draws), _negatives(members, int(negatives[number]), draws)]
        pairs += found
        same += [np.full(len(found[0]), True), np.full(len(found[1]), False)]
        fold.append(np.full(len(found[0]) + len(found[1]), number))
    return _as_pairs(np.concatenate(pairs), np.concatenate(same), np.concatenate(fold))


def _pairs_anywhere(classes: Whole, wanted: int, draws: Draws) -> Pairs:
    members = members_of(classes)
    found = [_positives(members, wanted, draws), _negatives(members, wanted, draws)]
    same = np.repeat([True, False], [len(kind) for kind in found])
    fold = np.concatenate([draws.permutation(len(kind)) % FOLDS for kind in found])
    return _as_pairs(np.concatenate(found), same, fold)


def _positives(members: list[Whole], wanted: int, draws: Draws) -> Whole:
    sizes = np.array([len(images) for images in members], dtype=np.int64)
    found = [np.empty((0, 2), dtype=np.int64)]
    for images, count in zip(members, share_out(sizes * (sizes - 1) // 2, wanted, draws), strict=True):
        n = len(images)
        chosen = draws.distinct(n * (n - 1) // 2, int(count))
        # Each number below n(n-1)/2 is one pair: a first image, and how far round the circle the second is.
        first = chosen % n
        second = (first + chosen // n + 1) % n
        found.append(np.stack([images[first], images[second]], axis=1))
    return np.concatenate(found)


def _negatives(members: list[Whole], wanted: int, draws: Draws) -> Whole:
    sizes = np.array([len(images) for images in members], dtype=np.int64)
    left, right = np.triu_indices(len(members), 1)
    counts = share_out(sizes[left] * sizes[right], wanted, draws)
    found = [np.empty((0, 2), dtype=np.int64)]
    for which in np.flatnonzero(counts):
        one, other = members[left[which]], members[right[which]]
        chosen = draws.distinct(len(one) * len(other), int(counts[which]))
        found.append(np.stack([one[chosen // len(other)], other[chosen % len(other)]], axis=1))
    return np.concatenate(found)


def share_out(room: Whole, total: int, draws: Draws) -> Whole:
    """Distributes `total` as evenly as the limits allow; the remainder is distributed at random."""
    given = np.zeros_like(room)
    left = min(total, int(room.sum()))
    order = draws.permutation(len(room))
    while left:
        open_ = order[(room - given)[order] > 0]
        each = max(left // len(open_), 1)
        open_ = open_[:left]
        more = np.minimum(each, (room - given)[open_])
        given[open_] += more
        left -= int(more.sum())
    return given


def _as_pairs(pairs: Whole, same: NDArray[np.bool_], fold: Whole) -> Pairs:
    order = np.argsort(fold, kind="stable")
    return Pairs(torch.from_numpy(pairs[order]), torch.from_numpy(same[order]), torch.from_numpy(fold[order]))
