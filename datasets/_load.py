"""Loads and checks a dataset by name and options, and says what is known about it without loading."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import torch

from datasets._data import Data, ProtocolName, Split
from datasets._dataset import DATASETS, WRAPPERS, Dataset, Size, Wrapper
from datasets._errors import InputError
from datasets._options import Option
from datasets._place import place
from datasets._splits import shorten

WrapperSpec = Mapping[str, Mapping[str, object]]


def names() -> list[str]:
    """The names of all datasets, sorted: those of this folder, of installed packages and of plug-ins.

    >>> "digits" in names()
    True
    """
    return DATASETS.names()


def wrapper_names() -> list[str]:
    """The names of all wrappers, sorted.

    >>> "longtail" in wrapper_names()
    True
    """
    return WRAPPERS.names()


def options(name: str) -> dict[str, Option[Any]]:
    """The declared options of the dataset or wrapper called `name`: default, meaning and what is allowed.

    `InputError` suggests similar names if there is none of this name.

    >>> options("longtail")["ratio"].allowed()
    'a number from 1 to 100000'
    """
    return _kind(name).options()


def summary(name: str) -> str:
    """One line about the dataset or wrapper called `name`; `InputError` if there is none of this name.

    >>> summary("digits")
    '1,797 handwritten digits of 8×8 pixels, with scikit-learn; closed'
    """
    return _kind(name).summary


def _kind(name: str) -> type[Dataset] | type[Wrapper]:
    return WRAPPERS.items().get(name) or DATASETS.get(name)


def resolve(name: str, *, wrappers: Sequence[WrapperSpec] = (), **given: object) -> dict[str, object]:
    """What defines the data, as plain values: every option of the dataset and its wrappers, defaults filled in.

    It takes `name`, `wrappers` and the options `given` as `load` does and reads no data. `InputError` says which of
    them is wrong.

    >>> resolve("digits", val_share=0.2)
    {'name': 'digits', 'options': {'test_share': 0.25, 'val_share': 0.2}, 'wrappers': []}
    """
    dataset = DATASETS.get(name)(**given)
    chain = [{wrapper.name: wrapper.values()} for wrapper in _wrappers(wrappers)]
    return {"name": name, "options": dataset.values(), "wrappers": chain}


def training_size(resolved: Mapping[str, Any]) -> Size | None:
    """How much the data that `resolve` describes as `resolved` trains on, roughly; None if only the data itself can
    tell.

    `InputError` if the dataset, a wrapper or an option is unknown here.

    >>> training_size(resolve("glyphs", wrappers=[{"subset": {"classes": 50}}]))
    Size(classes=50, per_class=20.0, pixels=784)
    """
    size = _dataset(resolved).training_size()
    for wrapper in _wrappers(resolved["wrappers"]):
        size = None if size is None else wrapper.resized(size)
    return size


def test_sets(resolved: Mapping[str, Any]) -> list[str]:
    """The names of the test sets of the data that `resolve` describes as `resolved`: "test" where there is one alone.

    `InputError` if the dataset or an option is unknown here.

    >>> test_sets(resolve("faces", train="people", tests=["lfw.bin", "cfp_fp.bin"]))
    ['lfw', 'cfp_fp']
    """
    return _dataset(resolved).test_sets()


def pairs_lost(resolved: Mapping[str, Any], root: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Notes on listed test pairs without images, for data that `resolve` describes as `resolved` in the folder `root`.

    It reads lists and file names, never an image, and writes nothing. `InputError` or `FileNotFoundError` as of `load`.

    >>> pairs_lost(resolve("digits"))
    ()
    """
    return _dataset(resolved).pairs_lost(place(root, None))


def protocol(resolved: Mapping[str, Any]) -> ProtocolName:
    """Whether the data that `resolve` describes as `resolved` is "closed" or "open".

    `InputError` if the dataset or an option is unknown here.

    >>> protocol(resolve("glyphs"))
    'open'
    """
    return cast(ProtocolName, _dataset(resolved).protocol)


def channels(resolved: Mapping[str, Any]) -> int:
    """The number of channels of the images that `resolve` describes as `resolved`: 1 for grey, 3 for colour.

    `InputError` if the dataset or an option is unknown here.

    >>> channels(resolve("glyphs"))
    1
    """
    return int(_dataset(resolved).channels)


def load(
    name: str,
    root: str | os.PathLike[str] | None = None,
    seed: int = 0,
    *,
    wrappers: Sequence[WrapperSpec] = (),
    cache: str | os.PathLike[str] | None = None,
    **given: object,
) -> Data:
    """A dataset, split by `seed`, changed by the wrappers in the order given, and checked.

    Args:
        name: A dataset of `names()`.
        root: The folder of the data. Default: MARGINBENCH_DATA, else `data`.
        seed: The seed of the split and of the verification pairs. It is not a training seed.
        wrappers: A list such as `[{"longtail": {"ratio": 100}}]`.
        cache: The folder for made data. Default: MARGINBENCH_CACHE, else `.cache` in `root`, else the user's cache.
        given: Options of the dataset.

    Raises:
        InputError: A name, an option or the data is wrong.
        FileNotFoundError: The data is missing. The message says where it was looked for and how to get it.

    >>> data = load("digits", wrappers=[{"subset": {"classes": 5}}])
    >>> data.num_classes, data.image_shape, data.protocol
    (5, (1, 8, 8), 'closed')
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InputError(f"seed={seed!r}: expected a whole number")
    dataset = DATASETS.get(name)(**given)
    chain = _wrappers(wrappers)
    data = dataset.build(place(root, cache), seed)
    for wrapper in chain:
        data = wrapper.apply(data, seed)
    applied = tuple({wrapper.name: wrapper.values()} for wrapper in chain)
    return check(replace(data, options=dataset.values(), wrappers=applied))


def _dataset(resolved: Mapping[str, Any]) -> Dataset:
    return DATASETS.get(resolved["name"])(**resolved["options"])


def _wrappers(specs: Sequence[WrapperSpec]) -> list[Wrapper]:
    if isinstance(specs, str | Mapping):
        raise InputError(f"wrappers={specs!r}: expected a list such as [{{'longtail': {{'ratio': 100}}}}]")
    chain = []
    for spec in specs:
        if not isinstance(spec, Mapping) or [isinstance(given, Mapping) for given in spec.values()] != [True]:
            raise InputError(
                f"wrapper {spec!r}: expected a name and its options, such as {{'longtail': {{'ratio': 100}}}}"
            )
        ((name, given),) = spec.items()
        chain.append(WRAPPERS.get(name)(**given))
    return chain


def check(data: Data, *, min_classes: int = 2, min_per_class: int = 1, min_pairs: int = 1) -> Data:
    """Returns `data` itself, or raises `InputError` with the counts that fall short.

    Training needs `min_classes` classes of `min_per_class` images; validation, unless it is empty, and every test set
    need `min_pairs` pairs of the same class and as many of different ones.

    >>> import datasets
    >>> data = datasets.load("digits")
    >>> check(data, min_classes=10, min_per_class=50) is data
    True
    """
    if data.num_classes < min_classes:
        raise InputError(f"{data.name}: {data.num_classes} training class(es); expected at least {min_classes}")
    _check_counts(data, min_per_class)
    if len(data.val):
        _check_pairs(data.name, "validation split", data.val, min_pairs)
    for name, split in data.tests.items():
        _check_pairs(data.name, f"test set {name}", split, min_pairs)
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
                f"{dataset}: the {name} has {count} pair(s) of {kind}; expected at least {min_pairs}; "
                f"it has {len(split)} images of {len(split.names)} classes, {several} with 2 images or more"
            )
