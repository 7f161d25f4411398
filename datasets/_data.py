"""A loaded dataset: its splits, images, labels and pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from datasets._errors import InputError
from datasets._names import listed

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

    `before_noise` has the labels before noise was added (-1: a class that is no longer among the names). `identities`
    says where the labels of a test set come from: given with the data, joined from its pairs, or unknown. Unknown ones
    only say which pairs are of one identity.
    """

    images: Images
    labels: Tensor
    names: tuple[str, ...]
    verification: Pairs = field(default_factory=_no_pairs)
    before_noise: Tensor | None = None
    identities: Literal["given", "joined", "unknown"] = "given"

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

    @property
    def clusters(self) -> Tensor | None:
        """For each image the number of its pair, where identities are unknown: what an interval leaves out together."""
        if self.identities != "unknown":
            return None
        clusters = torch.zeros(len(self), dtype=torch.int64)
        clusters[self.pairs] = torch.arange(len(self.pairs))[:, None].expand(-1, 2)
        return clusters

    def take(self, index: Tensor) -> Split:
        """A split with these images only, without pairs; labels and names do not change."""
        images = self.images.rows(index) if isinstance(self.images, StreamedImages) else self.images[index]
        before = self.clean_labels[index]
        return Split(images, self.labels[index], self.names, before_noise=before, identities=self.identities)


@dataclass(frozen=True, eq=False)
class Data:
    """A dataset, split. `tests` are its test sets by name; one training is scored on all of them.

    `notes` are things a person should know, such as images that were left out. `files` has the SHA-256 of each test
    set's file, where it is one.
    """

    name: str
    protocol: ProtocolName
    train: Split
    val: Split
    tests: Mapping[str, Split]
    notes: tuple[str, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
    wrappers: tuple[dict[str, dict[str, object]], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def test(self) -> Split:
        """The only test set; `InputError` where there are several, or none."""
        if len(self.tests) != 1:
            choose = (
                f"choose one, as in data.tests[{next(iter(self.tests), '')!r}]" if self.tests else "it was left out"
            )
            raise InputError(f"{self.name} does not have one test set but {listed(self.tests)}: {choose}")
        return next(iter(self.tests.values()))

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

    def without_tests(self) -> Data:
        """The same data without its test sets, for choosing settings."""
        return replace(self, tests={})

    def test_people_in_training(self) -> dict[str, tuple[int, ...]]:
        """For each test set the labels whose names are also names of training classes.

        Only sets whose identities have names are in it. A name without a letter is a number, not a name.
        """
        return {
            name: tuple(label for label, person in enumerate(split.names) if person in self._people(self.train))
            for name, split in self.tests.items()
            if self._people(split) and self._people(self.train)
        }

    def seen_in_training(self) -> dict[str, Tensor]:
        """For each test set with people who are trained on: whether each image is of one of them."""
        found = self.test_people_in_training()
        return {
            name: torch.isin(self.tests[name].labels, torch.tensor(labels)) for name, labels in found.items() if labels
        }

    @staticmethod
    def _people(split: Split) -> frozenset[str]:
        return people(split.names) if split.identities == "given" else frozenset()

    @cached_property
    def train_digest(self) -> str:
        """Hash of what training reads: pixels and labels."""
        return _digest(self.train)

    @cached_property
    def digest(self) -> str:
        """Hash of everything that training and evaluation read: pixels, labels, pairs, folds, names of test sets."""
        total = hashlib.sha256(f"{self.protocol} {self.train_digest} {_digest(self.val)}".encode())
        for name, split in self.tests.items():
            total.update(f" {name} {_digest(split)}".encode())
        return total.hexdigest()


def people(names: Iterable[str]) -> frozenset[str]:
    """Those names that name somebody: a number may stand for another person in another set."""
    return frozenset(name for name in names if any(sign.isalpha() for sign in name))


def _digest(split: Split) -> str:
    total = hashlib.sha256(f"{tuple(split.images.shape)} {len(split.names)} {len(split.pairs)};".encode())
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
