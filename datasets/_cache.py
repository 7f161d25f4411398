"""Arrays that are costly to make are kept in a file that appears whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from datasets._errors import InputError

Arrays = dict[str, NDArray[Any]]


def cached(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """The arrays of the file; made, and kept there, when it is missing or damaged."""
    try:
        return read_arrays(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        warnings.warn(f"{path} is damaged and is made again: {error}", RuntimeWarning, stacklevel=2)
    arrays = make()
    try:
        write_arrays(path, arrays)
    except OSError as error:
        warnings.warn(f"{path} could not be kept, it will be made again next time: {error}", stacklevel=2)
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
    content = save(dict(arrays), metadata={"sha256": _checksum(arrays)})
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file beside `path`; flushed and renamed to it at the end, removed after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    total = hashlib.sha256()
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        total.update(f"{key} {array.dtype.str} {array.shape};".encode())
        total.update(array.data if array.size else b"")
    return total.hexdigest()
