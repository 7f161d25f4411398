"""Every loss written out longhand in float64, in loops, from the formulas of the papers; nothing shared with `losses`.

`target_only` takes the offsets of a margin that is kept constant (a detached gradient) or computes the margin itself;
`numeric_gradient` differentiates any of it by central differences.
"""

import math
from collections.abc import Callable

import numpy as np

Array = np.ndarray


def angle_between(one: Array, other: Array) -> float:
    """Accurate everywhere, and π/2 where a vector is zero (its cosine counts as 0)."""
    lengths = np.linalg.norm(one), np.linalg.norm(other)
    if min(lengths) < 1e-12:
        return math.pi / 2
    one, other = one / lengths[0], other / lengths[1]
    return 2.0 * math.atan2(float(np.linalg.norm(one - other)), float(np.linalg.norm(one + other)))


def angles(x: Array, weight: Array) -> Array:
    return np.array([[angle_between(row, column) for column in weight] for row in x])


def margin_cosine(theta: float, m: float, beyond: str, factor: float = 1.0) -> float:
    if factor * theta + m <= math.pi or beyond == "none":
        return math.cos(factor * theta + m)
    if beyond == "clamp":
        return -1.0
    return min(math.cos(theta) - m * math.sin(m), -1.0)


def psi(theta: float, m: int) -> float:
    k = min(math.floor(theta * m / math.pi), m - 1)
    return (-1) ** k * math.cos(m * theta) - 2 * k


def median_low(values: list[float]) -> float:
    return sorted(values)[(len(values) - 1) // 2]


class Longhand:
    """One loss at one batch: `target(i, θ)` is what replaces cos θ_y, `scale(i)` the factor of the cosines."""

    def __init__(self, x: Array, weight: Array, labels: Array) -> None:
        self.x, self.weight, self.labels = x, weight, labels
        self.theta = angles(x, weight)

    def own(self, i: int) -> float:
        return float(self.theta[i, self.labels[i]])


def cross_entropy(logits: Array, labels: Array) -> float:
    total = 0.0
    for row, label in zip(logits, labels, strict=True):
        high = max(row)
        total += high + math.log(sum(math.exp(value - high) for value in row)) - row[label]
    return total / len(labels)


def target_only(
    batch: Longhand, scale: Callable[[int], float], target: Callable[[int, float], float], constant: Array | None
) -> float:
    logits = np.cos(batch.theta)
    for i, label in enumerate(batch.labels):
        own = target(i, batch.own(i)) if constant is None else math.cos(batch.own(i)) + constant[i]
        logits[i, label] = own
        logits[i] *= scale(i)
    return cross_entropy(logits, batch.labels)


def offsets(batch: Longhand, target: Callable[[int, float], float]) -> Array:
    return np.array([target(i, batch.own(i)) - math.cos(batch.own(i)) for i in range(len(batch.labels))])


def numeric_gradient(value: Callable[[Array], float], at: Array, step: float = 1e-6) -> Array:
    gradient = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        above, below = at.copy(), at.copy()
        above[place] += step
        below[place] -= step
        gradient[place] = (value(above) - value(below)) / (2 * step)
    return gradient


def adacos_scale(batch: Longhand, before: float) -> float:
    size, classes = batch.theta.shape
    total = 0.0
    for i in range(size):
        total += sum(math.exp(before * math.cos(batch.theta[i, k])) for k in range(classes) if k != batch.labels[i])
    median = median_low([batch.own(i) for i in range(size)])
    return max(math.log(total / size) / math.cos(min(math.pi / 4, median)), 0.1)


def adaacos_margin(batch: Longhand) -> float:
    gaps = []
    for i, label in enumerate(batch.labels):
        others = [angle for j, angle in enumerate(batch.theta[i]) if j != label]
        gaps.append(min(others) - batch.own(i))
    return max(0.0, median_low(gaps))
