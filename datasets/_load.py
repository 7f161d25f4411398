"""From a name and options to checked data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from datasets._check import check
from datasets._data import Data
from datasets._dataset import DATASETS, WRAPPERS, Dataset, Wrapper
from datasets._errors import InputError
from datasets._options import Option
from datasets._place import place

WrapperSpec = Mapping[str, Mapping[str, object]]


def names() -> list[str]:
    return DATASETS.names()


def wrapper_names() -> list[str]:
    return WRAPPERS.names()


def options(name: str) -> dict[str, Option[Any]]:
    """The declared options of a dataset or wrapper: default, meaning, what is allowed."""
    return _kind(name).options()


def summary(name: str) -> str:
    return _kind(name).summary


def _kind(name: str) -> type[Dataset] | type[Wrapper]:
    return WRAPPERS.items().get(name) or DATASETS.get(name)


def resolve(name: str, *, wrappers: Sequence[WrapperSpec] = (), **given: object) -> dict[str, object]:
    """What defines the data: each option with its value. ValueError where one is wrong. Reads no data."""
    dataset = DATASETS.get(name)(**given)
    chain = [{wrapper.name: wrapper.values()} for wrapper in _wrappers(wrappers)]
    return {"name": name, "options": dataset.values(), "wrappers": chain}


def load(
    name: str,
    root: str | os.PathLike[str] | None = None,
    seed: int = 0,
    *,
    wrappers: Sequence[WrapperSpec] = (),
    cache: str | os.PathLike[str] | None = None,
    **given: object,
) -> Data:
    """The dataset, split by `seed` and wrapped in the order given.

    `root` is where data lies on disk (default: MARGINBENCH_DATA, else `data`); `cache` is where made data is
    kept (default: MARGINBENCH_CACHE, else `.cache` in root, else the user's cache folder).
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
