"""Caches arrays that are slow to make, in a file that is written atomically."""

import hashlib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from datasets._errors import InputError
from datasets._files import write_atomically

Arrays = dict[str, NDArray[Any]]


def cached(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """The arrays of the file. If it is missing or damaged, they are made and stored."""
    try:
        return read_arrays(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        warnings.warn(f"{path} is damaged; it will be made again: {error}", RuntimeWarning, stacklevel=2)
    arrays = make()
    try:
        write_arrays(path, arrays)
    except OSError as error:
        warnings.warn(f"{path} could not be written; the data will be made again next time: {error}", stacklevel=2)
    return arrays


def read_arrays(path: Path) -> Arrays:
    if not path.exists():
        raise FileNotFoundError(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays: Arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(str(error)) from error
    if metadata.get("sha256") != _checksum(arrays):
        raise InputError("its checksum does not match its content")
    return arrays


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    write_atomically(path, save(dict(arrays), metadata={"sha256": _checksum(arrays)}))


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    total = hashlib.sha256()
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        total.update(f"{key} {array.dtype.str} {array.shape};".encode())
        total.update(array.data if array.size else b"")
    return total.hexdigest()
