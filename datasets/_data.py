"""A loaded dataset: its splits, images, labels and pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

ProtocolName = Literal["closed", "open"]


@runtime_checkable
class Images(Protocol):
    """N×C×H×W uint8: a tensor, or images on disk that are indexed like one."""

    @property
    def shape(self) -> torch.Size: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Tensor, /) -> Tensor: ...


@runtime_checkable
class StreamedImages(Images, Protocol):
    """Images that stay on disk. `rows` selects some of them without reading them."""

    def rows(self, index: Tensor) -> StreamedImages: ...
    def hashes(self) -> Iterator[bytes]: ...


def _no_pairs() -> Pairs:
    return Pairs(
        torch.empty((0, 2), dtype=torch.int64), torch.empty(0, dtype=torch.bool), torch.empty(0, dtype=torch.int64)
    )


@dataclass(frozen=True, eq=False)
class Pairs:
    """Verification pairs. `drawn`: at random, so that they may be drawn again; otherwise they belong to the data."""

    pairs: Tensor
    same: Tensor
    fold: Tensor
    drawn: bool = True


@dataclass(frozen=True, eq=False)
class Split:
    """Images and labels of one split; `names[label]` is the name of the class.

    `before_noise` has the labels before noise was added (-1: a class that is no longer among the names).
    """

    images: Images
    labels: Tensor
    names: tuple[str, ...]
    verification: Pairs = field(default_factory=_no_pairs)
    before_noise: Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def pairs(self) -> Tensor:
        return self.verification.pairs

    @property
    def same(self) -> Tensor:
        return self.verification.same

    @property
    def fold(self) -> Tensor:
        return self.verification.fold

    @property
    def clean_labels(self) -> Tensor:
        return self.labels if self.before_noise is None else self.before_noise

    @property
    def noisy(self) -> Tensor:
        """True where noise has changed the label."""
        return self.labels != self.clean_labels

    @property
    def class_counts(self) -> Tensor:
        return torch.bincount(self.labels, minlength=len(self.names))

    def take(self, index: Tensor) -> Split:
        """A split with these images only, without pairs; labels and names do not change."""
        images = self.images.rows(index) if isinstance(self.images, StreamedImages) else self.images[index]
        return Split(images, self.labels[index], self.names, before_noise=self.clean_labels[index])


@dataclass(frozen=True, eq=False)
class Data:
    """A dataset with its splits. `notes` are for the user, such as images that were left out."""

    name: str
    protocol: ProtocolName
    train: Split
    val: Split
    test: Split
    notes: tuple[str, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
    wrappers: tuple[dict[str, dict[str, object]], ...] = ()

    @property
    def num_classes(self) -> int:
        """Training classes."""
        return len(self.train.names)

    @property
    def class_counts(self) -> Tensor:
        """Training images of each class."""
        return self.train.class_counts

    @property
    def image_shape(self) -> tuple[int, int, int]:
        _, channels, height, width = self.train.images.shape
        return channels, height, width

    def without_test(self) -> Data:
        """The same data with an empty test split, for choosing settings."""
        return replace(self, test=self.test.take(torch.empty(0, dtype=torch.int64)))

    @cached_property
    def digest(self) -> str:
        """Hash of everything that training and evaluation read: pixels, labels, pairs, folds."""
        total = hashlib.sha256(self.protocol.encode())
        for split in (self.train, self.val, self.test):
            total.update(f"{tuple(split.images.shape)} {len(split.names)} {len(split.pairs)};".encode())
            for one in image_hashes(split.images):
                total.update(one)
            for tensor in (split.labels, split.pairs, split.same, split.fold):
                total.update(tensor.numpy().astype("<i8").tobytes())
        return total.hexdigest()


def image_hashes(images: Images) -> Iterator[bytes]:
    """One hash per image, so that images in memory and images on disk have the same digest."""
    if isinstance(images, StreamedImages):
        yield from images.hashes()
    else:
        assert isinstance(images, Tensor)
        for image in images.numpy():
            yield hashlib.sha256(image.tobytes()).digest()
