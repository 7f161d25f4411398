"""Pairs that came with the data, placed in a split and in folds."""

from collections import Counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets._data import Pairs
from datasets._draws import Draws, Whole
from datasets._identities import groups
from datasets._named_pairs import NamedPair, NamedPairs
from datasets._pairs import FOLDS


def given_pairs(pairs: Whole, same: NDArray[np.bool_], fold: Whole) -> Pairs:
    return Pairs(torch.from_numpy(pairs), torch.from_numpy(same), torch.from_numpy(fold), drawn=False)


def folds_in_order(same: NDArray[np.bool_]) -> tuple[Whole, str]:
    """Ten folds in the order of the file, as the field has them; the first ones may be larger by one.

    Where a fold would have pairs of one kind only, folds take a tenth of each kind, in the order of the file: then
    there is a note.
    """
    fold = _in_order(len(same), min(FOLDS, max(len(same) // 2, 1)))
    if all(len(set(same[fold == number].tolist())) == 2 for number in range(int(fold.max(initial=0)) + 1)):
        return fold, ""
    counts = {kind: int((same == kind).sum()) for kind in (True, False)}
    for kind, count in counts.items():
        fold[same == kind] = _in_order(count, max(min(FOLDS, *counts.values()), 1))
    return fold, "tenths of the file have pairs of one kind, so folds are tenths of each kind instead"


def _in_order(count: int, folds: int) -> Whole:
    return np.repeat(np.arange(folds), [len(part) for part in np.array_split(np.arange(count), folds)])


def pairs_in_split(named: NamedPairs, paths: list[str], labels: Tensor, seed: int) -> tuple[Pairs, tuple[str, ...]]:
    """Pairs as places in the split, each once; those with an image that was left out are dropped, with a note."""
    place = {path: number for number, path in enumerate(paths)}
    once: dict[frozenset[str], NamedPair] = {}
    for pair in named.pairs:
        once.setdefault(frozenset((pair.first, pair.second)), pair)
    usable = [pair for pair in once.values() if pair.first in place and pair.second in place]
    dropped = len(once) - len(usable)
    notes = (f"{named.file.name}: {dropped} of {len(once)} pairs name an image that was left out",) if dropped else ()
    pairs = np.array([(place[pair.first], place[pair.second]) for pair in usable], dtype=np.int64).reshape(-1, 2)
    same = np.array([pair.same for pair in usable], dtype=bool)
    if any(pair.fold is None for pair in usable):
        fold = fold_pairs(labels.numpy()[pairs], seed)
    else:
        fold = np.array([pair.fold for pair in usable], dtype=np.int64)
    return given_pairs(pairs, same, fold), (*named.notes, *notes)


def fold_pairs(identities: Whole, seed: int) -> Whole:
    """Folds that share no identity, where each can then have pairs of both kinds; else by lot."""
    same = identities[:, 0] == identities[:, 1]
    group = groups(identities.max(initial=-1) + 1, identities)[identities[:, 0]]
    sizes = Counter(group.tolist())
    load = np.zeros(FOLDS, dtype=np.int64)
    fold_of: dict[int, int] = {}
    for number, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        fold_of[number] = int(load.argmin())
        load[fold_of[number]] += size
    fold = np.array([fold_of[number] for number in group.tolist()], dtype=np.int64)
    if all(len(set(same[fold == number].tolist())) == 2 for number in range(FOLDS)):
        return fold
    draws = Draws("folds of given pairs", seed)
    for kind in (True, False):
        members = np.flatnonzero(same == kind)
        fold[members] = draws.permutation(len(members)) % FOLDS
    return fold
