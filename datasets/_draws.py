"""Random numbers that are the same on every machine and with every version of numpy."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from datasets._errors import InputError

Whole = NDArray[np.int64]


class Draws:
    """A stream of random numbers, named by its key.

    numpy guarantees that the raw stream of a bit generator never changes, but not the methods of `Generator`. So only
    the raw stream is used.
    """

    def __init__(self, *key: int | str) -> None:
        name = hashlib.sha256("\0".join(map(str, key)).encode()).digest()
        self._bits = np.random.PCG64(int.from_bytes(name[:16], "big"))

    def below(self, limit: int, count: int) -> Whole:
        """`count` whole numbers from 0 to limit-1."""
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64)
        return (raw % np.uint64(limit)).astype(np.int64)

    def between(self, low: int, high: int, count: int) -> Whole:
        """`count` whole numbers from low to high, both included."""
        return low + self.below(high - low + 1, count)

    def permutation(self, count: int) -> Whole:
        return np.argsort(self._bits.random_raw(count), kind="stable").astype(np.int64)

    def distinct(self, limit: int, count: int) -> Whole:
        """`count` different whole numbers from 0 to limit-1."""
        if count > limit:
            raise InputError(f"cannot draw {count} different numbers below {limit}")
        if limit <= max(4 * count, 512):
            return self.permutation(limit)[:count]
        found = np.empty(0, dtype=np.int64)
        while len(found) < count:
            more = np.concatenate([found, self.below(limit, 2 * (count - len(found)) + 8)])
            _, first = np.unique(more, return_index=True)
            found = more[np.sort(first)]
        return found[:count]
