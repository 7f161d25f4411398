"""Verification over all pairs of N embeddings, exactly, in memory that does not grow with the pairs."""

import numpy as np
from numpy.typing import NDArray

from benchmark.metrics._curves import GRID, Counts, ScoreCounts, rates
from benchmark.metrics._inputs import Floats, Ints, Measured, Values, as_labels, as_matrix, unit_rows

_SCORES_AT_ONCE = 2**21


def all_pairs_verification(embeddings: Values, labels: Values) -> Measured:
    """EER, AUC and TAR at FAR over every pair of two of the `embeddings` (N×D) with these `labels` (N).

    Zero vectors are left out and counted. `InputError` names what is wrong with the arrays.

    >>> all_pairs_verification([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]], [0, 0, 1])["auc"]
    1.0
    """
    counts, left_out = all_pairs_counts(embeddings, labels)
    return {**rates(counts), "left_out_embeddings": left_out}


def all_pairs_counts(embeddings: Values, labels: Values) -> tuple[ScoreCounts, int]:
    """Counts of all N(N−1)/2 scores, and how many zero vectors were left out.

    Scores are fp32 products of unit vectors, rounded to multiples of 2⁻²⁴ (about the product's own rounding
    error): 2²⁵+1 values, so counting them is exact and needs no sort. With the rows sorted by label, the same
    pairs of a row lie side by side.
    """
    matrix = as_matrix(embeddings, "embeddings")
    unsorted = as_labels(labels, len(matrix))
    unit, has_direction = unit_rows(matrix)
    order = np.argsort(unsorted, kind="stable")
    order = order[has_direction[order]]
    sorted_labels, rows = unsorted[order], unit[order].astype(np.float32)
    del unit
    n = len(rows)
    one = np.uint32(1) if n * (n - 1) // 2 < 2**32 else np.uint64(1)
    total: Counts = np.zeros(2 * GRID + 1, dtype=one.dtype)
    same: Counts = np.zeros(2 * GRID + 1, dtype=one.dtype)
    class_end: Ints = np.searchsorted(sorted_labels, sorted_labels, "right")
    height = rows_at_once(n)
    for top in range(0, n, height):
        block, block_labels = rows[top : top + height], sorted_labels[top : top + height]
        bottom = top + len(block)
        inside = pair_positions(block, block)
        upper = np.triu(np.ones(inside.shape, dtype=np.bool_), 1)
        alike = upper & (block_labels[:, None] == block_labels[None, :])
        np.add.at(total, inside[upper], one)
        np.add.at(same, inside[alike], one)
        beyond = pair_positions(block, rows[bottom:])
        last_class = int(np.searchsorted(block_labels, block_labels[-1]))  # alone can go on beyond the block
        np.add.at(total, beyond.ravel(), one)
        np.add.at(same, beyond[last_class:, : int(class_end[bottom - 1]) - bottom].ravel(), one)
    np.subtract(total, same, out=total)
    return ScoreCounts(same, total, _score_at), len(matrix) - n


def rows_at_once(n: int) -> int:
    """The height of a block of products."""
    return max(1, min(1024, _SCORES_AT_ONCE // max(n, 1)))


def pair_positions(left: NDArray[np.float32], right: NDArray[np.float32]) -> Ints:
    """Steps of 2⁻²⁴ from a cosine of 1 down to that of each pair of rows."""
    scores = left @ right.T
    scores *= -GRID
    np.rint(scores, out=scores)
    np.clip(scores, -GRID, GRID, out=scores)
    positions: Ints = scores.astype(np.int64)
    positions += GRID
    return positions


def _score_at(positions: Ints) -> Floats:
    return 1.0 - positions / GRID
