"""Splits by seed: of images inside each class (closed), or of identities (open)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from datasets._data import Data, ProtocolName, Split
from datasets._draws import Draws, Whole
from datasets._errors import InputError
from datasets._names import ONLY_TEST
from datasets._pairs import draw_pairs, members_of


def hold_out(labels: Tensor, share: float, *key: int | str) -> tuple[Tensor, Tensor]:
    """(kept, held out). Holds out the share of each class: at least one image, and two (a pair) of four or more."""
    draws = Draws("hold out", *key)
    held = np.zeros(len(labels), dtype=bool)
    for members in members_of(labels.numpy()):
        least = 2 if len(members) >= 4 else 1
        count = min(max(round(len(members) * share), least), len(members) - 1)
        held[members[draws.permutation(len(members))[:count]]] = True
    return torch.from_numpy(np.flatnonzero(~held)), torch.from_numpy(np.flatnonzero(held))


def hold_out_identities(name: str, counts: Whole, share: float, draws: Draws) -> tuple[Whole, Whole, list[str]]:
    """(kept, held out) of the identities: the share of all, drawn of those with two images, and a note if it is less.

    Two identities make a pair; four make two folds.
    """
    wanted = max(round(share * len(counts)), 4 if len(counts) >= 12 else 2)
    order = draws.permutation(len(counts))
    held = order[counts[order] >= 2][:wanted]
    if len(held) < 2 or len(counts) - len(held) < 2:
        raise InputError(
            f"{name}: 2 people each are needed to train and validate on, the latter with 2 images or more; of "
            f"{len(counts)} people, {int((counts >= 2).sum())} with 2 images or more, {len(counts) - len(held)} would "
            f"train and {len(held)} validate"
        )
    notes = [f"{name}: {wanted} people were to validate, only {len(held)} have 2 images"] if len(held) < wanted else []
    return np.setdiff1d(np.arange(len(counts)), held), np.sort(held), notes


def closed_split(name: str, train: Split, test: Split, val_share: float, seed: int) -> Data:
    """Splits validation images from the training images of each class."""
    few = [train.names[label] for label in np.flatnonzero(train.class_counts.numpy() < 2)]
    if few:
        raise InputError(
            f"{name}: a closed protocol needs 2 training images per class, one of them for validation; "
            f"{len(few)} of {len(train.names)} classes have fewer: {shorten(few)}"
        )
    kept, held = hold_out(train.labels, val_share, name, seed, "val")
    return data_with_pairs(name, "closed", train.take(kept), train.take(held), test, seed)


def data_with_pairs(name: str, protocol: ProtocolName, train: Split, val: Split, test: Split, seed: int) -> Data:
    val, test = (with_pairs(split, protocol, name, seed, part) for split, part in ((val, "val"), (test, "test")))
    return Data(name, protocol, train, val, {ONLY_TEST: test})


def with_pairs(split: Split, protocol: ProtocolName, *key: int | str) -> Split:
    drawn = draw_pairs(split.labels, protocol, *key)
    return Split(split.images, split.labels, split.names, drawn, split.clean_labels)


def pick_classes(split: Split, classes: Sequence[int] | Whole) -> Split:
    """Only the images of these classes, labelled by their position in `classes`."""
    wanted = torch.as_tensor(np.asarray(classes), dtype=torch.int64)
    number = torch.full((len(split.names),), -1, dtype=torch.int64)
    number[wanted] = torch.arange(len(wanted))
    part = split.take(torch.nonzero(number[split.labels] >= 0).flatten())
    # A clean label of -1 stays -1: index -1 reads the padding at the end.
    padded = torch.cat([number, torch.tensor([-1])])
    names = tuple(split.names[label] for label in wanted.tolist())
    return Split(part.images, number[part.labels], names, before_noise=padded[part.clean_labels])


def open_split(name: str, everything: Split, parts: dict[str, Whole], seed: int) -> Data:
    """An open split; `identities` has the labels for training, validation and test."""
    train, val, test = (pick_classes(everything, parts[part]) for part in ("train", "val", "test"))
    return data_with_pairs(name, "open", train, val, test, seed)


def shorten(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
