"""Images decoded once into one file of pixels, which is read whole or image by image."""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets._cache import Arrays, cached
from datasets._draws import Whole
from datasets._errors import InputError
from datasets._files import whole_file
from datasets._index import File, as_bytes, in_threads, texts
from datasets._jpeg import Pixels, decode_into, decoder
from datasets._source import Source
from datasets._splits import shorten

AT_ONCE = 128


class StoredImages:
    """Pixels in a file: indexed like a uint8 tensor, read and checked when they are asked for. Can be pickled."""

    dtype = torch.uint8

    def __init__(self, file: File, shape: tuple[int, ...], sums: Whole, hashes: Pixels, index: Whole) -> None:
        self._file, self._shape, self._sums, self._hashes, self._index = file, shape, sums, hashes, index

    @property
    def shape(self) -> torch.Size:
        return torch.Size((len(self._index), *self._shape))

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, index: Tensor | slice | int) -> Tensor:
        which = self._index[index.numpy() if isinstance(index, Tensor) else index]
        size = int(np.prod(self._shape))
        found = np.empty((which.size, *self._shape), dtype=np.uint8)
        for place, row in enumerate(which.reshape(-1).tolist()):
            content = self._file.read(row * size, size)
            if zlib.crc32(content) != self._sums[row]:
                Path(self._file.path).unlink(missing_ok=True)
                raise InputError(
                    f"{self._file.path}: image {row} (byte {row * size}) is not the one that was written there; "
                    "the file was removed and is made again at the next start"
                )
            found[place] = np.frombuffer(content, dtype=np.uint8).reshape(self._shape)
        return torch.from_numpy(found.reshape(*which.shape, *self._shape))

    def rows(self, index: Tensor) -> StoredImages:
        return StoredImages(self._file, self._shape, self._sums, self._hashes, self._index[index.numpy()])

    def hashes(self) -> Iterator[bytes]:
        yield self._hashes[self._index].tobytes()


@dataclass(frozen=True)
class Decoded:
    """`good[n]`: image n of the source could be read. `problems` says what was wrong with the others."""

    file: Path
    shape: tuple[int, ...]
    sums: Whole
    hashes: Pixels
    good: NDArray[np.bool_]
    problems: tuple[str, ...]

    def notes(self, name: str, max_corrupt: float) -> tuple[str, ...]:
        """Which images could not be read; more than the share `max_corrupt` of them is an error."""
        if not self.problems:
            return ()
        count, total = len(self.problems), len(self.good)
        message = f"{name}: {count} of {total} images could not be read: {shorten(self.problems, 10)}"
        if count > max_corrupt * total:
            raise InputError(f"{message}; that is more than max_corrupt={max_corrupt:g} of them")
        warnings.warn(f"{message}; they are left out", stacklevel=5)
        return (message,)

    def stored(self) -> StoredImages:
        """The good ones, on disk."""
        return StoredImages(File.at(self.file), self.shape, self.sums, self.hashes, np.flatnonzero(self.good))

    def in_memory(self) -> Tensor:
        """The good ones."""
        pixels = np.fromfile(self.file, dtype=np.uint8).reshape(-1, *self.shape)
        return torch.from_numpy(pixels if self.good.all() else pixels[self.good])


def decode_once(source: Source, cache: Path, size: int, channels: int, *, every_byte: bool) -> Decoded:
    """Decoded afresh when a file of the source has changed, or the pixels are not those that were written.

    Without `every_byte` only the file's size is looked at; `StoredImages` checks each image when it is read.
    """
    stamp = f"{type(source).__name__} {len(source)} {size} {channels} {decoder().mark}\n{source.stamp()}"
    stem = cache / f"pixels-{hashlib.sha256(os.fsencode(stamp)).hexdigest()[:16]}"
    file, index, shape = stem.with_suffix(".pixels"), stem.with_suffix(".safetensors"), (channels, size, size)
    arrays = cached(index, lambda: _decode_all(source, file, shape))
    if not _intact(file, arrays, shape, every_byte=every_byte):
        index.unlink(missing_ok=True)
        arrays = cached(index, lambda: _decode_all(source, file, shape))
    good, sums = arrays["good"].astype(bool), arrays["sums"]
    return Decoded(file, shape, sums, cast(Pixels, arrays["hashes"]), good, texts(arrays["problems"]))


def _intact(file: Path, arrays: Arrays, shape: tuple[int, ...], *, every_byte: bool) -> bool:
    size = int(np.prod(shape))
    if not file.is_file() or file.stat().st_size != size * len(arrays["sums"]):
        return False
    with file.open("rb", buffering=0) as content:
        return not every_byte or all(zlib.crc32(content.read(size)) == known for known in arrays["sums"].tolist())


def _decode_all(source: Source, file: Path, shape: tuple[int, ...]) -> Arrays:
    _check_room(file.parent, len(source) * int(np.prod(shape)))
    numbers = np.array_split(np.arange(len(source)), -(-len(source) // AT_ONCE))
    with whole_file(file) as aside, aside.open("wb") as content:
        os.truncate(content.fileno(), len(source) * int(np.prod(shape)))

        def work(part: Whole) -> tuple[list[int], list[bytes], list[str]]:
            pixels, problems = decode_some(source, part, shape)
            os.pwrite(content.fileno(), pixels.data, int(part[0]) * int(np.prod(shape)))
            sums, hashes = [zlib.crc32(one.data) for one in pixels], [hashlib.sha256(one).digest() for one in pixels]
            return sums, hashes, problems

        what = f"decoding {source.title}"
        done = in_threads(work, numbers, what, "images", AT_ONCE)
    problems = [problem for _, _, some in done for problem in some]
    return {
        "sums": np.array([one for sums, _, _ in done for one in sums], dtype=np.int64),
        "hashes": np.frombuffer(b"".join(one for _, hashes, _ in done for one in hashes), np.uint8).reshape(-1, 32),
        "good": np.array([not problem for problem in problems], dtype=np.uint8),
        "problems": as_bytes(problem for problem in problems if problem),
    }


def decode_some(source: Source, numbers: Whole, shape: tuple[int, ...]) -> tuple[Pixels, list[str]]:
    """Their pixels, and for each what was wrong with it (then its pixels are 0), or nothing."""
    pixels = np.zeros((len(numbers), *shape), dtype=np.uint8)
    decoded = np.empty((*shape[1:], shape[0]), dtype=np.uint8)
    problems = [""] * len(numbers)
    for place, number in enumerate(numbers.tolist()):
        try:
            decode_into(decoded, source.read(number))
            pixels[place] = decoded.transpose(2, 0, 1)
        except InputError as error:  # an OSError does not come from the image: it ends the decoding
            problems[place] = f"{source.where(number)} ({' '.join(str(error).split())})".replace("\0", " ")
    return pixels, problems


def _check_room(folder: Path, needed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(
            f"the decoded images need {needed >> 20} MB in {folder}, {free >> 20} MB are free; "
            "choose a smaller size=, or another place with cache= or MARGINBENCH_CACHE"
        )
