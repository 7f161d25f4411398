"""What every metric asks of its input: finite numbers, labels that fit, unit vectors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Values = Any  # a list, a numpy array or a CPU tensor
Measured = dict[str, float | None]  # None: not measurable on this input

_ROWS_AT_ONCE = 2**14


def as_array(values: Values) -> NDArray[Any]:
    """A numpy array of a list, an array or a torch tensor (without importing torch)."""
    if hasattr(values, "detach"):
        tensor = values.detach().cpu()
        values = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
    return np.asarray(values)


def as_matrix(values: Values, name: str) -> NDArray[Any]:
    """A finite floating-point matrix; what is wrong with it is said by name."""
    matrix = as_array(values)
    if matrix.ndim != 2:
        raise InputError(f"{name} must be a matrix (rows × dimensions), got shape {matrix.shape}")
    if not (np.issubdtype(matrix.dtype, np.floating) or np.issubdtype(matrix.dtype, np.integer)):
        raise InputError(f"{name} must hold real numbers, got {matrix.dtype}")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise InputError(f"{name}: {len(bad)} of {len(matrix)} rows hold NaN or infinity, first row {bad[0]}")
    return matrix


def as_labels(values: Values, length: int, name: str = "labels") -> Ints:
    """One whole number per row."""
    labels = as_array(values)
    if labels.shape != (length,):
        raise InputError(f"{name} must have shape ({length},), got {labels.shape}")
    if labels.size and not np.issubdtype(labels.dtype, np.integer):
        raise InputError(f"{name} must be whole numbers, got {labels.dtype}")
    return labels.astype(np.int64)


def as_classes(values: Values, length: int, num_classes: int, what: str) -> Ints:
    """Labels that each have one of the `num_classes` rows of `what`."""
    labels = as_labels(values, length)
    wrong = labels[(labels < 0) | (labels >= num_classes)]
    if len(wrong):
        raise InputError(f"label {wrong[0]} has no {what}: there are {num_classes}, 0 … {num_classes - 1}")
    return labels


def unit_rows(matrix: NDArray[Any]) -> tuple[Floats, Bools]:
    """Rows scaled to length 1 in float64, and which rows have a direction at all; zero rows stay zero."""
    unit: Floats = np.empty(matrix.shape)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = matrix[start : start + _ROWS_AT_ONCE].astype(np.float64)
        largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
        rows /= np.where(largest > 0, largest, 1.0)  # first, so that squares neither overflow nor vanish
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        unit[start : start + _ROWS_AT_ONCE] = rows / np.where(length > 0, length, 1.0)
    has_direction: Bools = np.any(unit, axis=1)
    return unit, has_direction


def rows_where(kept: Bools, rows: Floats) -> Floats:
    """The rows that are kept, without a copy if that is all of them."""
    return rows if kept.all() else rows[kept]
