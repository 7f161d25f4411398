"""Checks of loaded data: what would spoil a run is an error before training begins."""

import torch

from datasets._data import Data, Split
from datasets._errors import InputError
from datasets._splits import shorten


def check(data: Data, *, min_classes: int = 2, min_per_class: int = 1, min_pairs: int = 1) -> Data:
    """Returns `data` itself, or raises `InputError` with the counts that fall short.

    Training needs `min_classes` classes of `min_per_class` images; validation and test need `min_pairs`
    pairs of the same class and as many of different ones.

    >>> import datasets
    >>> data = datasets.load("digits")
    >>> check(data, min_classes=10, min_per_class=50) is data
    True
    """
    if data.num_classes < min_classes:
        raise InputError(f"{data.name}: {data.num_classes} training class(es), at least {min_classes} are needed")
    _check_counts(data, min_per_class)
    for name, split in (("validation", data.val), ("test", data.test)):
        _check_pairs(data.name, name, split, min_pairs)
    return data


def _check_counts(data: Data, min_per_class: int) -> None:
    counts = data.class_counts
    few = [data.train.names[label] for label in torch.nonzero(counts < min_per_class).flatten().tolist()]
    if few:
        raise InputError(
            f"{data.name}: {len(few)} of {data.num_classes} training classes have fewer than {min_per_class} "
            f"image(s), the smallest {int(counts.min())}: {shorten(few)}"
        )


def _check_pairs(dataset: str, name: str, split: Split, min_pairs: int) -> None:
    positive = int(split.same.sum())
    for kind, count in (("same class", positive), ("different classes", len(split.same) - positive)):
        if count < min_pairs:
            several = int((split.class_counts >= 2).sum())
            raise InputError(
                f"{dataset}: the {name} split has {count} pair(s) of {kind}, needed: {min_pairs}; "
                f"it has {len(split)} images of {len(split.names)} classes, {several} with 2 images or more"
            )
