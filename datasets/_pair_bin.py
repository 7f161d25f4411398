"""insightface's verification sets, `.bin`: a pickle of (encoded images, whether each pair is of one person).

A pickle is a program that can run any code. Here every step is looked at before the first one is taken, the only
steps allowed are those that make lists of bytes, numbers and numpy arrays, and the functions that the pickle names
are replaced by ones that do nothing but keep bytes.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from datasets._errors import InputError
from datasets._pickle_steps import check_steps

KINDS = {"u1": "u1", "uint8": "u1", "b1": "b1", "bool": "b1", "i8": "<i8", "int64": "<i8", "i4": "<i4"}
IMAGE, FLAG = "u1", ("b1", "u1", "<i8", "<i4")


def read_pair_bin(path: Path) -> tuple[list[bytes], list[bool]]:
    """The images, two for each pair, and whether each pair is of one person. Runs nothing that the file says."""
    content = path.read_bytes()
    check_steps(path, content, GLOBALS)
    try:
        found = _Reader(content).load()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except Exception as error:  # a damaged pickle may raise anything
        raise InputError(f"{path} is not a pickle of images and pairs: {type(error).__name__}: {error}") from error
    if not isinstance(found, tuple | list) or len(found) != 2 or not isinstance(found[0], list):
        raise InputError(f"{path}: expected (images, same), {type(found).__name__} came")
    made: dict[int, bytes] = {}
    images = [_image(one, made, f"{path}, image {number}") for number, one in enumerate(found[0])]
    return images, _flags(found[1], path)


def _image(one: Any, made: dict[int, bytes], where: str) -> bytes:
    """Its bytes. An image that occurs often is not copied as often."""
    if isinstance(one, _Array):
        one = one.of((IMAGE,), where).content
    if isinstance(one, bytearray):
        return made[id(one)] if id(one) in made else made.setdefault(id(one), bytes(one))
    if not isinstance(one, bytes):
        raise InputError(f"{where}: expected an encoded image, {type(one).__name__} came")
    return one


def _flags(given: Any, path: Path) -> list[bool]:
    flags = given.flags(f"{path}").tolist() if isinstance(given, _Array) else given
    if not isinstance(flags, tuple | list):
        raise InputError(f"{path}: expected a list of True and False, {type(flags).__name__} came")
    for number, one in enumerate(flags):
        if not isinstance(one, bool | int | np.generic) or one not in (0, 1):
            raise InputError(f"{path}, pair {number}: expected True or False, {type(one).__name__} came")
    return [bool(one) for one in flags]


class _Array:
    """Stands for a numpy array: its bytes, and what they are."""

    kind: str = ""
    content: bytes | bytearray = b""

    def __setstate__(self, state: Any) -> None:
        _, _, kind, _, content = state
        self.fill(kind, content)

    def fill(self, kind: Any, content: Any) -> _Array:
        if not isinstance(kind, _Kind) or not isinstance(content, bytes | bytearray):
            raise InputError("an array is not of plain bytes or numbers")
        self.kind, self.content = kind.code, content
        return self

    def of(self, allowed: tuple[str, ...], where: str) -> _Array:
        if self.kind not in allowed:
            raise InputError(
                f"{where}: an array of type {self.kind or 'unknown'} came, expected {' or '.join(allowed)}"
            )
        return self

    def flags(self, where: str) -> Any:
        return np.frombuffer(self.of(FLAG, where).content, dtype=self.kind)


class _Kind:
    """Stands for a numpy dtype."""

    def __init__(self, code: Any, *_: Any) -> None:
        text = code.decode("ascii", "replace") if isinstance(code, bytes) else str(code)
        if text.lstrip("|<") not in KINDS:
            raise InputError(f"an array of type {text[:20]!r} came, expected one of {', '.join(KINDS)}")
        self.code = KINDS[text.lstrip("|<")]

    def __setstate__(self, state: Any) -> None:
        """Byte order and the like, which say nothing new of these types."""


class _Reader(pickle.Unpickler):
    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="bytes")
        self.room = len(content)

    def find_class(self, module: str, name: str) -> Any:
        if f"{module} {name}" not in GLOBALS:
            raise InputError(f"it wants to call {f'{module} {name}'[:100]!r}, which is not allowed")
        return self._encode if name == "encode" else GLOBALS[f"{module} {name}"]

    def _encode(self, text: Any, encoding: Any) -> bytes:
        """How Python 3 writes bytes for Python 2. The same text encoded again and again would fill the memory."""
        self.room -= len(text)
        if str(encoding) not in ("latin1", "latin-1") or self.room < 0:
            raise InputError(f"text is encoded as {str(encoding)[:20]!r}, or too often; expected latin1, once")
        return str(text).encode("latin1")


_MADE = {
    "multiarray _reconstruct": lambda *_: _Array(),
    "multiarray scalar": lambda kind, content: _Array().fill(kind, content).flags("a flag")[0],
    "numeric _frombuffer": lambda content, kind, *_: _Array().fill(kind, content),
}
GLOBALS: dict[str, Any] = {f"numpy.{core}.{name}": made for core in ("core", "_core") for name, made in _MADE.items()}
GLOBALS |= {"numpy ndarray": lambda *_: _Array(), "numpy dtype": lambda *given: _Kind(*given), "_codecs encode": None}
