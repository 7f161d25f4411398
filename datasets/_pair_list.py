"""A file of encoded images in pairs: images 2i and 2i+1 are pair i. It is read whole, and only if it was not before."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets._cache import Arrays
from datasets._errors import InputError
from datasets._index import File, as_bytes, kept_index, texts
from datasets._source import Source

MOST_FILE = 1 << 32
Load = Callable[[Path], tuple[list[bytes], list[bool]]]


class PairList(Source):
    """`same[i]` says whether pair i is of one person; `sha256` is the file's."""

    def __init__(self, path: Path, load: Load, cache: Path) -> None:
        self.file, self.title, self._load = File.at(path), str(path), load
        if self.file.size > MOST_FILE:
            raise InputError(f"{path} has {self.file.size} bytes; expected at most {MOST_FILE}")
        arrays = kept_index("pairs", [self.file], cache, self._index)
        self.same: NDArray[np.bool_] = arrays["same"].astype(bool)
        (self.sha256,) = texts(arrays["sha256"])
        self.labels, self.names = np.zeros(2 * len(self.same), dtype=np.int64), ("unknown",)

    @cached_property
    def _content(self) -> tuple[list[bytes], list[bool]]:
        path = self.file.path
        images, same = self._load(Path(path))
        if not same:
            raise InputError(f"{path} holds no pairs")
        if len(images) != 2 * len(same):
            raise InputError(f"{path}: {len(images)} images came for {len(same)} pairs, expected {2 * len(same)}")
        return images, same

    def _index(self) -> Arrays:
        with open(self.file.path, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        return {"same": np.array(self._content[1], dtype=np.uint8), "sha256": as_bytes([digest])}

    def read(self, number: int) -> bytes:
        return self._content[0][number]

    def where(self, number: int) -> str:
        return f"{self.file.path}, image {number} (pair {number // 2})"

    def stamp(self) -> str:
        return f"{self.file.path} {self.file.size} {self.file.time}"

    def fingerprint(self) -> str:
        return self.sha256
