"""Pairs that came with the data: which images they name, where those are in the test split, in which fold."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from datasets._data import Pairs
from datasets._draws import Draws, Whole
from datasets._pairs import FOLDS
from datasets._pairs_file import NamedPair
from datasets._tree import class_of


@dataclass(frozen=True)
class Named:
    """The images there are, by path, and the pairs of them, if any were given."""

    paths: list[str]
    pairs: list[NamedPair] | None

    @cached_property
    def images(self) -> set[str]:
        return {path for pair in self.pairs or [] for path in (pair.first, pair.second)}

    @cached_property
    def classes(self) -> set[str]:
        return {class_of(path) for path in self.images}


def pairs_in_split(
    named: list[NamedPair], paths: list[str], labels: Tensor, seed: int
) -> tuple[Pairs, tuple[str, ...]]:
    """Pairs as places in the split; those with an image that was left out are dropped, with a note."""
    place = {path: number for number, path in enumerate(paths)}
    usable = [pair for pair in named if pair.first in place and pair.second in place]
    dropped = len(named) - len(usable)
    notes = (f"folder: {dropped} of {len(named)} pairs name an image that was left out",) if dropped else ()
    places = [(place[pair.first], place[pair.second]) for pair in usable]
    pairs = np.array(places, dtype=np.int64).reshape(-1, 2)
    same = np.array([pair.same for pair in usable], dtype=bool)
    if any(pair.fold is None for pair in usable):
        fold = fold_pairs(labels.numpy()[pairs], seed)
    else:
        fold = np.array([pair.fold for pair in usable], dtype=np.int64)
    given = Pairs(torch.from_numpy(pairs), torch.from_numpy(same), torch.from_numpy(fold), drawn=False)
    return given, notes


def fold_pairs(identities: Whole, seed: int) -> Whole:
    """Folds that share no identity, where each can then have pairs of both kinds; else by lot."""
    same = identities[:, 0] == identities[:, 1]
    group = _linked(identities)
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


def _linked(identities: Whole) -> Whole:
    """For each pair the group of identities that pairs join it to."""
    parent = {identity: identity for identity in identities.flatten().tolist()}

    def top(identity: int) -> int:
        while parent[identity] != identity:
            parent[identity] = parent[parent[identity]]
            identity = parent[identity]
        return identity

    for one, other in identities.tolist():
        parent[top(one)] = top(other)
    return np.array([top(one) for one in identities[:, 0].tolist()], dtype=np.int64)
