"""Datasets, their splits and their verification pairs.

    data = datasets.load("glyphs", root="data", seed=0)

A file in this folder adds a dataset (a subclass of `Dataset`) or a wrapper (a subclass of `Wrapper`):

    class Mine(datasets.Dataset):
        name = "mine"
        summary = "what it is"
        protocol = "open"
        count = datasets.Whole(10, "what the option means", low=1, high=100)

        def build(self, place, seed):
            ...  # returns datasets.Data, from place.root and self.count
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasets._data import Data, Images, Pairs, Split
    from datasets._dataset import Dataset, Size, Wrapper
    from datasets._errors import InputError
    from datasets._jpeg import decoder
    from datasets._load import (
        channels,
        check,
        load,
        names,
        options,
        pairs_lost,
        protocol,
        resolve,
        summary,
        test_sets,
        training_size,
        wrapper_names,
    )
    from datasets._options import Choice, Flag, Real, Sets, Text, Whole
    from datasets._registry import DuplicateNameError

_HOMES = {
    "_data": "Data Images Pairs Split",
    "_dataset": "Dataset Size Wrapper",
    "_errors": "InputError",
    "_jpeg": "decoder",
    "_load": "channels check load names options pairs_lost protocol resolve summary test_sets training_size "
    "wrapper_names",
    "_options": "Choice Flag Real Sets Text Whole",
    "_registry": "DuplicateNameError",
}


def __getattr__(name: str) -> Any:
    """Imports on demand: metrics use this package's registry without torch and image libraries."""
    home = next((home for home, names in _HOMES.items() if name in names.split()), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *" ".join(_HOMES.values()).split()])
