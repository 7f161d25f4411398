"""Kendall's τ-b against scipy, and what its interval carries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmark.statistics import rank_agreement, tau_b

VALUES = st.lists(st.integers(0, 5), min_size=6, max_size=14)


@given(VALUES, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_tau_is_scipy_s_with_ties(values: list[int], random) -> None:
    other = [random.randint(0, 5) for _ in values]
    ours = tau_b(np.array(values, dtype=float), np.array(other, dtype=float))
    theirs = stats.kendalltau(values, other).statistic
    assert ours == pytest.approx(theirs, nan_ok=True)


def test_many_at_once() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=8), rng.normal(size=(5, 8))
    assert tau_b(first, second) == pytest.approx([stats.kendalltau(first, one).statistic for one in second])


def made(noise: float, seeds: int = 5, rows: int = 8) -> tuple[list[float], np.ndarray]:
    rng = np.random.default_rng(1)
    published = list(np.arange(rows, dtype=float))
    return published, np.arange(rows)[:, None] + noise * rng.normal(size=(rows, seeds))


def test_without_noise_the_interval_is_the_value() -> None:
    found = rank_agreement(*made(0.0))
    assert (found.tau, found.low, found.high, found.rows) == (1.0, 1.0, 1.0, 8)


def test_more_noise_makes_it_wider_and_it_is_the_same_at_every_call() -> None:
    some, more = rank_agreement(*made(1.0)), rank_agreement(*made(6.0))
    assert some.low is not None
    assert some.high is not None
    assert more.low is not None
    assert more.high is not None
    assert more.high - more.low > some.high - some.low
    assert rank_agreement(*made(6.0)) == more


def test_a_shift_that_all_rows_of_a_seed_share_changes_nothing() -> None:
    published, values = made(0.0)
    shifted = values + np.array([0.0, 5.0, -3.0, 10.0, -20.0])
    found = rank_agreement(published, shifted)
    assert (found.tau, found.low, found.high) == (1.0, 1.0, 1.0)


def test_the_reverse_order_is_minus_one() -> None:
    published, values = made(0.0)
    assert rank_agreement(published[::-1], values).tau == -1.0


@pytest.mark.parametrize(
    ("values", "published", "note"),
    [
        (np.ones((5, 5)), [1, 2, 3, 4, 5], "5 rows"),
        (np.ones((6, 5)), [1, 2, 3, 4, 5, 6], "ties all rows"),
        (np.arange(6.0)[:, None], [1, 2, 3, 4, 5, 6], "1 seed(s)"),
        (np.full((6, 5), np.nan), [1, 2, 3, 4, 5, 6], "0 rows"),
    ],
)
def test_what_cannot_be_given_says_why(values: np.ndarray, published: list[float], note: str) -> None:
    found = rank_agreement(published, values)
    assert found.low is None
    assert note in found.note


def test_rows_and_seeds_without_a_value_are_left_out() -> None:
    published, values = made(0.0)
    values[0] = np.nan
    values[1, :3] = np.nan
    found = rank_agreement(published, values)
    assert (found.tau, found.rows, found.low) == (1.0, 7, 1.0)


def test_coverage_of_the_true_order_s_agreement() -> None:
    """In at least nine of ten experiments the interval holds the τ that many seeds would give."""
    rng = np.random.default_rng(2)
    published, truth = np.arange(9.0), np.array([0.0, 2, 1, 3, 5, 4, 6, 8, 7])
    target = float(tau_b(published, truth))
    held = 0
    for _ in range(200):
        found = rank_agreement(list(published), truth[:, None] + 0.8 * rng.normal(size=(9, 5)))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= target <= found.high
    assert held >= 180
