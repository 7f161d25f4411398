"""Outlines to pixels in whole numbers alone: the same bytes on every machine."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from datasets._draws import Whole

FINE = 4  # sub-pixels to a pixel, across and down
SUB = 64  # steps to a sub-pixel
STEPS_PER_PIXEL = FINE * SUB

Mask = NDArray[np.bool_]


def rasterise(starts: Sequence[Whole], ends: Sequence[Whole], strokes: Whole, size: int) -> NDArray[np.uint8]:
    """One image an outline, N×size×size; ink is 255.

    Edges are in steps from the upper left corner; `strokes` (N×2) is by how many sub-pixels the shape is made
    thicker on each side, across and down (negative: thinner).
    """
    mask = _with_strokes(_inside(starts, ends, size * FINE), strokes)
    cells = mask.reshape(len(mask), size, FINE, size, FINE)
    ink: Whole = cells.sum(axis=(2, 4), dtype=np.int64)
    return (ink * 255 // FINE**2).astype(np.uint8)


def _inside(starts: Sequence[Whole], ends: Sequence[Whole], fine: int) -> Mask:
    """The sub-pixels whose centre the contours wind round."""
    image = np.repeat(np.arange(len(starts)), [len(edges) for edges in starts])
    start, end = np.concatenate(starts), np.concatenate(ends)
    down = end[:, 1] > start[:, 1]
    upper = np.where(down[:, None], start, end)
    lower = np.where(down[:, None], end, start)
    # Rows whose centre line (row + ½) an edge crosses; the upper end belongs to the edge, the lower does not.
    first = np.clip(_first_centre(upper[:, 1]), 0, fine)
    count = np.clip(_first_centre(lower[:, 1]), 0, fine) - first
    edge = np.repeat(np.arange(len(count)), count)
    row = first[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)
    rise = row * SUB + SUB // 2 - upper[edge, 1]
    x = upper[edge, 0] + (lower[edge, 0] - upper[edge, 0]) * rise // (lower[edge, 1] - upper[edge, 1])
    column = np.clip(_first_centre(x), 0, fine)
    turns = np.zeros((len(starts), fine, fine + 1), dtype=np.int8)
    np.add.at(turns, (image[edge], row, column), np.where(down[edge], 1, -1).astype(np.int8))
    winding: NDArray[np.int8] = np.cumsum(turns[:, :, :fine], axis=2, dtype=np.int8)
    inside: Mask = winding != 0
    return inside


def _first_centre(steps: Whole) -> Whole:
    """The first sub-pixel whose centre is at or behind the place."""
    return -((SUB // 2 - steps) // SUB)


def _with_strokes(mask: Mask, strokes: Whole) -> Mask:
    changed = mask.copy()
    for axis in (0, 1):
        for amount in np.unique(strokes[:, axis]):
            chosen = strokes[:, axis] == amount
            changed[chosen] = _thicken(changed[chosen], int(amount), axis=2 - axis)
    # A letter that is all hairlines would vanish: it stays as it was.
    vanishing = 2 * changed.sum(axis=(1, 2)) < mask.sum(axis=(1, 2))
    changed[vanishing] = mask[vanishing]
    return changed


def _thicken(mask: Mask, amount: int, axis: int) -> Mask:
    if amount < 0:
        return ~_thicken(~mask, -amount, axis)
    grown = mask.copy()
    low, high = [slice(None)] * 3, [slice(None)] * 3
    for shift in range(1, amount + 1):
        low[axis], high[axis] = slice(None, -shift), slice(shift, None)
        grown[tuple(high)] |= mask[tuple(low)]
        grown[tuple(low)] |= mask[tuple(high)]
    return grown
