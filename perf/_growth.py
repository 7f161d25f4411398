"""How time grows with size: the slope of ln y over ln x, by least squares, with its 95 % interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Growth:
    """y ≈ factor·x^exponent."""

    exponent: float
    low: float
    high: float
    factor: float

    def at(self, size: float) -> float:
        return float(self.factor * size**self.exponent)


def growth(x: Sequence[float], y: Sequence[float]) -> Growth:
    """The fit through at least three points, with Student's interval; it does not cover larger sizes."""
    from scipy import stats  # here, so that processes whose memory is measured do not load it

    if len(x) != len(y) or len(set(x)) < 3:
        raise ValueError(f"{len(x)} sizes and {len(y)} values; a growth needs at least three of each, as many of both")
    if not all(math.isfinite(value) and value > 0 for value in (*x, *y)):
        raise ValueError("sizes and values of a growth must be finite and above 0")
    fit = stats.linregress(np.log(x), np.log(y))
    half = float(stats.t.ppf(0.975, len(x) - 2) * fit.stderr)
    slope = float(fit.slope)
    return Growth(slope, slope - half, slope + half, math.exp(float(fit.intercept)))
