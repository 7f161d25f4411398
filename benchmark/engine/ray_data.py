"""Datasets for other machines: as arrays in memory that all workers of a machine share."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from datasets import Data


def can_travel(data: Data) -> bool:
    """Whether the images are in memory and can be sent; images on disk are read by each machine from its own disk."""
    return all(isinstance(split.images, Tensor) for split in (data.train, data.val, *data.tests.values()))


def as_arrays(data: Data) -> Any:
    """The dataset with arrays in place of its tensors."""
    return _each(data, Tensor, lambda tensor: tensor.numpy())


def as_tensors(arrays: Any) -> Data:
    """The inverse of `as_arrays`. Images stay in memory that all workers share and none may write to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        data = _each(arrays, np.ndarray, lambda array: torch.from_numpy(array if array.ndim == 4 else array.copy()))
    assert isinstance(data, Data)
    return data


def _each(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """A copy of a dataclass with every value of one type converted, also in nested dataclasses and mappings."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _each(one, kind, change) for name, one in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    return replace(value, **{part.name: _each(getattr(value, part.name), kind, change) for part in fields(value)})
