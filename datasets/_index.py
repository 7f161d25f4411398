"""What all readers of packed images need: files read at any place, an index that is kept, work in threads."""

from __future__ import annotations

import hashlib
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from datasets._cache import Arrays, cached
from datasets._errors import InputError

SECONDS_BETWEEN_LINES = 5
VERSION = 1

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class File:
    """A file as it was when it was indexed."""

    path: str
    size: int
    time: int

    @classmethod
    def at(cls, path: Path) -> File:
        stat = path.stat()
        return cls(str(path.resolve()), stat.st_size, stat.st_mtime_ns)

    def read(self, offset: int, length: int) -> bytes:
        """Never fewer bytes than `length`."""
        handle = _handle(self)  # held until it is read from: another thread may replace this file's handle
        content = os.pread(handle.number, length, offset)
        if len(content) != length:
            raise InputError(f"{self.path}: {length} bytes were expected at byte {offset}, {len(content)} are there")
        return content

    def up_to(self, length: int) -> Callable[[int], bytes]:
        """A function that reads at most `length` bytes from an offset, for many short reads."""
        handle = _handle(self)
        return lambda offset: os.pread(handle.number, length, offset)


class _Handle:
    """A file number that is closed when nobody uses it any more."""

    def __init__(self, file: File) -> None:
        self.number = os.open(file.path, os.O_RDONLY)
        weakref.finalize(self, os.close, self.number)
        stat = os.fstat(self.number)
        if (stat.st_size, stat.st_mtime_ns) != (file.size, file.time):
            raise InputError(f"{file.path} has changed since it was opened; start again")


@lru_cache(maxsize=64)
def _handle(file: File) -> _Handle:
    return _Handle(file)


def kept_index(kind: str, files: Sequence[File], cache: Path, make: Callable[[], Arrays]) -> Arrays:
    """The index of these files: made once, and again when one of them has changed."""
    stamp = "\n".join([f"{kind} {VERSION}", *(f"{file.path} {file.size} {file.time}" for file in files)])
    return cached(cache / f"index-{hashlib.sha256(os.fsencode(stamp)).hexdigest()[:16]}.safetensors", make)


def as_bytes(names: Iterable[str]) -> NDArray[np.uint8]:
    """Texts as an array that can be kept."""
    return np.frombuffer("".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape"), dtype=np.uint8)


def texts(array: NDArray[Any]) -> tuple[str, ...]:
    return tuple(array.tobytes().decode("utf-8", "surrogateescape").split("\0")[:-1])


def in_threads(work: Callable[[Job], Result], jobs: Sequence[Job], what: str, unit: str, each: int = 1) -> list[Result]:
    """The results in the order of the jobs, with progress on stderr when it takes longer than a few seconds.

    A job is `each` units. Reading and decoding release Python's lock, and threads also work in processes that may not
    start others.
    """
    results: list[Result] = []
    next_line = time.monotonic() + SECONDS_BETWEEN_LINES
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None) as pool:
        try:
            for result in pool.map(work, jobs):
                results.append(result)
                if time.monotonic() > next_line:
                    print(
                        f"{what}: {len(results) * each:,} of {len(jobs) * each:,} {unit}", file=sys.stderr, flush=True
                    )
                    next_line += SECONDS_BETWEEN_LINES
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return results
