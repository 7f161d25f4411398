import math

import numpy as np
import pytest

from perf._growth import growth


def test_a_power_law_is_found_exactly() -> None:
    x = [10.0, 100.0, 1_000.0, 10_000.0]
    found = growth(x, [0.5 * size**1.75 for size in x])
    assert found.exponent == pytest.approx(1.75)
    assert found.factor == pytest.approx(0.5)
    assert found.at(1e6) == pytest.approx(0.5 * 1e6**1.75)
    assert found.high - found.low < 1e-6


def test_the_interval_covers_as_often_as_it_says() -> None:
    rng, x = np.random.default_rng(0), np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    inside = 0
    for _ in range(2_000):
        found = growth(list(x), list(x**1.2 * np.exp(0.1 * rng.standard_normal(len(x)))))
        inside += found.low <= 1.2 <= found.high
    assert 0.93 < inside / 2_000 < 0.97


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0, 2.0], [1.0, 2.0]),
        ([1.0, 1.0, 2.0], [1.0, 1.0, 2.0]),
        ([1.0, 2.0, 3.0], [1.0, 2.0]),
        ([1.0, 2.0, 3.0], [1.0, 0.0, 2.0]),
        ([-1.0, 2.0, 3.0], [1.0, 2.0, 2.0]),
        ([1.0, 2.0, 3.0], [1.0, math.nan, 2.0]),
    ],
)
def test_what_has_no_growth_is_refused(x: list[float], y: list[float]) -> None:
    with pytest.raises(ValueError, match=r"growth"):
        growth(x, y)
