"""Fewer classes, or fewer images of each."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from datasets._data import Data, Pairs, Split
from datasets._dataset import Size, Wrapper
from datasets._draws import Draws
from datasets._errors import InputError
from datasets._options import Flag, Real, Whole
from datasets._pairs import members_of
from datasets._splits import pick_classes, with_pairs


class Subset(Wrapper):
    name = "subset"
    summary = "fewer training classes (in a closed set also of validation and test), fewer images of each"
    example = {"classes": 5, "per_class": 20}

    classes = Whole(0, "classes to keep; 0: all", low=0, high=10_000_000)
    per_class = Whole(0, "training images to keep of each class, if it has them; 0: all", low=0, high=10_000_000)
    share = Real(1.0, "share of each class's training images to keep, at least one", low=0.0001, high=1.0)
    evaluation = Flag(False, "also reduce the validation and test images of a closed set")

    def resized(self, size: Size) -> Size:
        per_class = min(self.per_class or size.per_class, size.per_class) * self.share
        return replace(size, classes=self.classes or size.classes, per_class=per_class)

    def apply(self, data: Data, seed: int) -> Data:
        if self.per_class and self.share < 1:
            raise InputError(f"subset: per_class={self.per_class} and share={self.share:g} cannot be used together")
        if self.classes > data.num_classes or self.classes == 1:
            raise InputError(f"subset: option classes={self.classes}: expected 2 to {data.num_classes} or 0")
        if self.evaluation and data.protocol == "open":
            raise InputError(
                "subset: option evaluation=True: not possible for an open set, whose validation and test stay unchanged"
            )
        kept = self._kept_classes(data.num_classes, seed)
        index = self._kept_images(data.train, kept, seed, "train", cut=True)
        train = pick_classes(data.train.take(index), kept)
        if data.protocol == "open":
            return replace(data, train=train)
        val = self._evaluated(data, data.val, kept, seed, "val")
        tests = {name: self._evaluated(data, split, kept, seed, name) for name, split in data.tests.items()}
        return replace(data, train=train, val=val, tests=tests)

    def _kept_classes(self, count: int, seed: int) -> list[int]:
        """Fewer classes are a subset of more classes."""
        return sorted(Draws("subset", seed).permutation(count)[: self.classes or count].tolist())

    def _kept_images(self, split: Split, kept: list[int], seed: int, part: str, *, cut: bool) -> Tensor:
        draws = Draws("subset images", seed, part)
        wanted = set(kept)
        found = [np.empty(0, dtype=np.int64)]
        for members in members_of(split.labels.numpy()):
            if int(split.labels[members[0]]) in wanted:
                count = self.per_class or max(round(len(members) * self.share), 1)
                found.append(members[draws.permutation(len(members))[: count if cut else None]])
        return torch.from_numpy(np.sort(np.concatenate(found)))

    def _evaluated(self, data: Data, split: Split, kept: list[int], seed: int, part: str) -> Split:
        index = self._kept_images(split, kept, seed, part, cut=self.evaluation)
        if len(index) == len(split):
            return split
        smaller = pick_classes(split.take(index), kept)
        if split.verification.drawn:
            return with_pairs(smaller, "closed", data.name, seed, part)
        return replace(smaller, verification=_those_left(split.verification, index, len(split)))


def _those_left(given: Pairs, index: Tensor, total: int) -> Pairs:
    """Keeps given pairs if both of their images are kept."""
    place = torch.full((total,), -1, dtype=torch.int64)
    place[index] = torch.arange(len(index))
    pairs = place[given.pairs]
    both = (pairs >= 0).all(dim=1)
    return Pairs(pairs[both], given.same[both], given.fold[both], drawn=False)
