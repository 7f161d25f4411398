"""Encoded images as they lie in files: how many, of which class, and how to read one.

Each format has a reader in a file of its own that makes a `Source`. `datasets._recognise` picks the reader.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from datasets._cache import Arrays
from datasets._draws import Whole
from datasets._index import File, texts

MOST_BYTES = 1 << 26
"""The largest encoded image that is read."""


class Source(ABC):
    """Encoded images. A source can be pickled: each process opens the files when it first reads from them.

    `labels[n]` is the place of image n's class in `names`. `paths`, where the format has them, are `class/image`.
    """

    title: str  # the file or folder
    labels: Whole
    names: tuple[str, ...]
    paths: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @abstractmethod
    def read(self, number: int) -> bytes:
        """The encoded image."""

    @abstractmethod
    def where(self, number: int) -> str:
        """The file, and the record or byte, for messages."""

    @abstractmethod
    def stamp(self) -> str:
        """Changes whenever a file is added, removed, written or renamed."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of index, record headers, sizes and labels. It does not depend on where the files are."""


class Spans(Source):
    """Images that lie in files as they are: image n is `length[n]` bytes from `offset[n]` on in `files[file[n]]`."""

    def __init__(self, files: Sequence[File], arrays: Arrays) -> None:
        self.files, self.title = tuple(files), files[0].path
        self.file, self.offset, self.length = arrays["file"], arrays["offset"], arrays["length"]
        self.labels = arrays["labels"]
        self.names = texts(arrays["names"])

    def read(self, number: int) -> bytes:
        file = self.files[int(self.file[number])]
        return file.read(int(self.offset[number]), int(self.length[number]))

    def where(self, number: int) -> str:
        return f"{self.files[self.file[number]].path}, byte {self.offset[number]}"

    def stamp(self) -> str:
        return "\n".join(f"{file.path} {file.size} {file.time}" for file in self.files)

    def fingerprint(self) -> str:
        total = hashlib.sha256(" ".join(str(file.size) for file in self.files).encode())
        for array in (self.file, self.offset, self.length, self.labels):
            total.update(np.ascontiguousarray(array, dtype="<i8").data)
        return total.hexdigest()


class Picked(Source):
    """Some images of a source, in another order."""

    def __init__(self, source: Source, index: Whole) -> None:
        self._source, self._index, self.title = source, index, source.title
        self.labels, self.names = source.labels[index], source.names
        self.paths = tuple(source.paths[number] for number in index.tolist()) if source.paths else ()

    def read(self, number: int) -> bytes:
        return self._source.read(int(self._index[number]))

    def where(self, number: int) -> str:
        return self._source.where(int(self._index[number]))

    def stamp(self) -> str:
        return f"{self._source.stamp()}\n{hashlib.sha256(self._index.tobytes()).hexdigest()}"

    def fingerprint(self) -> str:
        return hashlib.sha256(self._source.fingerprint().encode() + self._index.tobytes()).hexdigest()
