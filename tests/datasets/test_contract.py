"""What every dataset and every wrapper promises. A dataset whose data is not here is skipped with its own reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import datasets
from datasets import Choice, Data, Size, Split
from datasets._dataset import DATASETS, WRAPPERS


def variants(name: str) -> list[tuple[str, dict[str, object]]]:
    """The example that a dataset gives of itself, and the same with every other choice that it offers."""
    example = dict(DATASETS.get(name).example)
    offered = [(key, option) for key, option in datasets.options(name).items() if isinstance(option, Choice)]
    others = [{key: one} for key, option in offered for one in option.among if one != option.default]
    return [(name, example | other) for other in ({}, *others)]


EXAMPLES = [variant for name in datasets.names() for variant in variants(name)]
NO_DOWNLOAD = ("digits", "glyphs", "glyphs_closed")
MADE_UP = ("mnist", "fashion_mnist", "kmnist", "emnist", "cifar10", "cifar100", "omniglot", "folder", "faces")
# With the digest that it has on every machine.
REAL = [
    ("mnist", {}, "3891cf6b02866e4f562499b155589a437fd1319f41dece9f1c67d42b3a29c8d5"),
    ("omniglot", {}, "3408efedd6bcad4f15de2a4a73d990705a3652526fcc94fff02be2681f9b834b"),
    ("omniglot", {"protocol": "closed"}, "ff5c90da7516e38e502262ff2b5ee6af51f1e783653ce322fc9bd273868c0602"),
]


@pytest.mark.contract
@pytest.mark.parametrize(("name", "options"), EXAMPLES)
def test_every_dataset_keeps_the_contract(
    name: str, options: dict[str, object], load_made_up: Callable[..., Data]
) -> None:
    data = load_made_up(name, **options)
    keeps_contract(data)
    assert data.protocol == datasets.protocol(datasets.resolve(name, **options))
    assert load_made_up(name, **options).digest == data.digest


@pytest.mark.parametrize(("name", "options"), [one for one in EXAMPLES if one[0] in MADE_UP])
def test_a_split_shares_no_image_with_another_and_follows_the_seed(
    name: str, options: dict[str, object], load_made_up: Callable[..., Data]
) -> None:
    data = load_made_up(name, **options)
    no_image_is_in_two_splits(data)
    assert load_made_up(name, seed=1, **options).digest != data.digest


@pytest.mark.contract
@pytest.mark.parametrize("name", datasets.names())
def test_the_declared_size_is_that_of_the_data(name: str, load_real: Callable[..., Data]) -> None:
    options = dict(DATASETS.get(name).example)
    size = datasets.training_size(datasets.resolve(name, **options))
    if size is None:
        pytest.skip(f"{name} declares no size")
    is_the_size_of(size, load_real(name, **options))


@pytest.mark.contract
@pytest.mark.parametrize("name", datasets.wrapper_names())
def test_every_wrapper_keeps_the_contract(name: str) -> None:
    wrappers = [{name: dict(WRAPPERS.get(name).example)}]
    whole, data = datasets.load("digits"), datasets.load("digits", wrappers=wrappers)
    assert data.digest == datasets.load("digits", wrappers=wrappers).digest != whole.digest
    assert list(data.wrappers) == datasets.resolve("digits", wrappers=wrappers)["wrappers"]
    assert datasets.load("digits").digest == whole.digest
    for split in (data.val, data.test):
        has_right_pairs(split)
    size = datasets.training_size(datasets.resolve("digits", wrappers=wrappers))
    if size is not None:
        is_the_size_of(size, data)


def is_the_size_of(size: Size, data: Data) -> None:
    assert size.images == pytest.approx(len(data.train), rel=0.05)
    assert size.classes == pytest.approx(data.num_classes, rel=0.05)
    assert size.pixels == math.prod(data.image_shape[1:])


@pytest.mark.parametrize("name", NO_DOWNLOAD)
def test_those_that_are_always_there(name: str, cache: Path) -> None:
    data = datasets.load(name, cache, cache=cache)
    keeps_contract(data)
    has_enough_negative_pairs(data)


@pytest.mark.parametrize(("name", "options", "digest"), REAL)
def test_real_data(name: str, options: dict[str, object], digest: str, load_real: Callable[..., Data]) -> None:
    data = load_real(name, **options)
    assert data.digest == digest
    keeps_contract(data)
    has_enough_negative_pairs(data)


def test_real_sizes(load_real: Callable[..., Data]) -> None:
    mnist = load_real("mnist")
    assert (len(mnist.train) + len(mnist.val), len(mnist.test)) == (60_000, 10_000)
    assert mnist.test.class_counts.tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    opened = load_real("omniglot")
    assert opened.num_classes + len(opened.val.names) == 964
    assert len(opened.test.names) == 659
    closed = load_real("omniglot", protocol="closed")
    assert closed.num_classes == 1623
    assert closed.test.class_counts.unique().tolist() == [4]


def keeps_contract(data: Data) -> None:
    assert data.protocol in ("closed", "open")
    assert len(data.digest) == 64
    for split in (data.train, data.val, data.test):
        is_well_formed(split)
        assert tuple(split.images.shape[1:]) == data.image_shape
    for split in (data.val, data.test):
        has_right_pairs(split)
    assert torch.equal(data.class_counts, torch.bincount(data.train.labels))
    assert data.num_classes == len(data.class_counts)
    if data.protocol == "open":
        for one, other in ((data.train, data.val), (data.train, data.test), (data.val, data.test)):
            assert not set(one.names) & set(other.names)
        folds_share_no_identity(data.val)
        folds_share_no_identity(data.test)
    else:
        assert data.train.names == data.val.names == data.test.names


def is_well_formed(split: Split) -> None:
    assert split.images[torch.tensor([0])].dtype == torch.uint8
    assert split.images.shape[0] == len(split.images) == len(split.labels) == len(split)
    assert split.labels.dtype == torch.int64
    assert split.labels.unique().tolist() == list(range(len(split.names)))
    assert not split.noisy.any()


def has_right_pairs(split: Split) -> None:
    pairs = split.pairs
    assert pairs.shape == (len(split.same), 2) == (len(split.fold), 2)
    assert (pairs.dtype, split.same.dtype, split.fold.dtype) == (torch.int64, torch.bool, torch.int64)
    assert pairs.min() >= 0
    assert pairs.max() < len(split)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert len(pairs.sort(dim=1).values.unique(dim=0)) == len(pairs)
    assert torch.equal(split.labels[pairs[:, 0]] == split.labels[pairs[:, 1]], split.same)
    assert split.fold.unique().tolist() == list(range(int(split.fold.max()) + 1))
    assert split.fold.max() <= 9
    for fold in split.fold.unique():
        assert split.same[split.fold == fold].unique().tolist() == [False, True]


def folds_share_no_identity(split: Split) -> None:
    identities = split.labels[split.pairs]
    seen: dict[int, int] = {}
    for fold in split.fold.unique().tolist():
        for identity in identities[split.fold == fold].unique().tolist():
            assert seen.setdefault(identity, fold) == fold


def has_enough_negative_pairs(data: Data) -> None:
    for split in (data.val, data.test):
        assert (~split.same).sum() >= 10_000
    assert data.test.same.float().mean() > 0.4


def no_image_is_in_two_splits(data: Data) -> None:
    hashes = [
        {image.numpy().tobytes() for image in split.images[torch.arange(len(split))]}
        for split in (data.train, data.val, data.test)
    ]
    assert sum(map(len, hashes)) == len(set().union(*hashes)) == len(data.train) + len(data.val) + len(data.test)
