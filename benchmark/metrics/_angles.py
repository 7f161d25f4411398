"""Angles between unit vectors in float64, accurate near 0° and 180°, in blocks of bounded memory.

acos of a float64 cosine is good to 10⁻⁹ degrees except where the cosine is within 10⁻⁸ of ±1; those pairs
are measured again by the chord between them.
"""

import numpy as np

from benchmark.metrics._inputs import Floats

_NEAR = 1.0 - 1e-8
_BLOCK = 1024
_CHORDS_AT_ONCE = 2**20


def row_angles(left: Floats, right: Floats) -> Floats:
    """Degrees between row i of the one and row i of the other."""
    angles = np.empty(len(left))
    for start in range(0, len(left), _BLOCK):
        part = slice(start, start + _BLOCK)
        angles[part] = _angles_by_chord(left[part], right[part])
    return np.degrees(angles)


def _angles_by_chord(left: Floats, right: Floats) -> Floats:
    chord = np.linalg.norm(left - right, axis=1)
    antichord = np.linalg.norm(left + right, axis=1)
    angles: Floats = 2.0 * np.arctan2(chord, antichord)
    return angles


def _block_angles(left: Floats, right: Floats) -> Floats:
    """Radians between every row of the one and every row of the other."""
    cosines = left @ right.T
    if cosines.max() <= _NEAR and cosines.min() >= -_NEAR:
        return np.arccos(cosines, out=cosines)
    i, j = np.nonzero(np.abs(cosines) > _NEAR)
    angles = np.arccos(np.clip(cosines, -1.0, 1.0, out=cosines), out=cosines)
    step = max(1, _CHORDS_AT_ONCE // left.shape[1])
    for start in range(0, len(i), step):
        rows, columns = i[start : start + step], j[start : start + step]
        angles[rows, columns] = _angles_by_chord(left[rows], right[columns])
    return angles


def spread(rows: Floats) -> tuple[float, float] | tuple[None, None]:
    """Degrees: the mean over all pairs of different rows, and over rows of the angle to the nearest other one; None for
    fewer than two rows."""
    n = len(rows)
    if n < 2:
        return None, None
    total = 0.0
    nearest = np.full(n, np.inf)
    for top in range(0, n, _BLOCK):
        upper = slice(top, min(top + _BLOCK, n))
        for left in range(top, n, _BLOCK):
            lower = slice(left, min(left + _BLOCK, n))
            angles = _block_angles(rows[upper], rows[lower])
            if left == top:
                total += float(np.triu(angles, 1).sum())
                np.fill_diagonal(angles, np.inf)
            else:
                total += float(angles.sum())
                nearest[lower] = np.minimum(nearest[lower], angles.min(axis=0))
            nearest[upper] = np.minimum(nearest[upper], angles.min(axis=1))
    return float(np.degrees(total / (n * (n - 1) / 2))), float(np.degrees(nearest.mean()))


def mean_cross_angle(left: Floats, right: Floats) -> float | None:
    """Mean angle between row i of the one and row j ≠ i of the other; None for fewer than two rows."""
    n = len(left)
    if n < 2:
        return None
    total = 0.0
    for top in range(0, n, _BLOCK):
        for start in range(0, n, _BLOCK):
            total += float(_block_angles(left[top : top + _BLOCK], right[start : start + _BLOCK]).sum())
    return (float(np.degrees(total)) - float(row_angles(left, right).sum())) / (n * (n - 1))
