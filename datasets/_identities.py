"""Identities of pairs that came without them, joined from genuine pairs and identical images."""

import numpy as np
from numpy.typing import NDArray

from datasets._draws import Whole


def groups(count: int, links: Whole) -> Whole:
    """For each of `count` things the smallest one that links lead to."""
    parent = list(range(count))

    def top(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for one, other in links.tolist():
        low, high = sorted((top(one), top(other)))
        parent[high] = low
    return np.array([top(one) for one in range(count)], dtype=np.int64)


def by_first(values: NDArray[np.generic]) -> tuple[Whole, Whole]:
    """Values numbered by where they first occur: the number of each, and where each different one first is."""
    _, first, inverse = np.unique(values, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[inverse.reshape(-1)], first[order].astype(np.int64)


def different_images(content: NDArray[np.uint8]) -> tuple[Whole, Whole]:
    """As `by_first`, of images in pairs, 2i with 2i + 1: a pair has two images even if they are identical."""
    twin = np.zeros((len(content), 1), dtype=np.uint8)
    twin[1::2, 0] = (content[0::2] == content[1::2]).all(axis=1)
    return by_first(np.concatenate([content, twin], axis=1))


def join_identities(image: Whole, same: NDArray[np.bool_]) -> Whole | None:
    """A label for each different image; `image[2i]` and `image[2i+1]` are pair i. None: the pairs contradict it.

    Two images are of one identity if a genuine pair says so. That is sound unless a pair of two different people
    ends up inside one identity.
    """
    pairs = image.reshape(-1, 2)
    group = groups(int(image.max(initial=-1)) + 1, pairs[same])
    if (group[pairs[~same, 0]] == group[pairs[~same, 1]]).any():
        return None
    return by_first(group)[0]
