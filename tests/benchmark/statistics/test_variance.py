import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmark.statistics import pseudo_values, seed_variance, two_way_variance
from benchmark.statistics.variance import Variance, over_datasets


def test_two_way_by_hand():
    # seeds 1, 3 and 5, 7: means over identities 2 and 6, over seeds 3 and 5, nothing left over
    d = np.array([[1.0, 3.0], [5.0, 7.0]])
    found = two_way_variance(d.mean(axis=1), d)
    of_seeds, of_identities = 8.0 / 2, 2.0 / 2
    assert found.variance == pytest.approx(of_seeds + of_identities)
    assert found.freedom == pytest.approx(25 / (of_seeds**2 + of_identities**2))


def test_interaction_is_taken_off_once():
    # seed means 1 and 4, identity means 1 and 4, the rest ±1
    d = np.array([[0.0, 2.0], [2.0, 6.0]])
    found = two_way_variance(d.mean(axis=1), d)
    rest = 4 * 0.5**2 / 1 / 4
    assert found.variance == pytest.approx(4.5 / 2 + 4.5 / 2 - rest)
    assert found.freedom == pytest.approx((4.5 - rest) ** 2 / (2 * 2.25**2 + rest**2))


def test_never_below_either_part():
    d = np.array([[1.0, -1.0], [-1.0, 1.0]])  # all interaction
    assert two_way_variance(d.mean(axis=1), d).variance == 0.0
    tilted = d + np.array([[0.1], [-0.1]])
    assert two_way_variance(tilted.mean(axis=1), tilted).variance == pytest.approx(0.02 / 2)


def test_seeds_alone_are_students_t():
    values = np.random.default_rng(0).standard_normal(7) + 0.5
    found = seed_variance(values)
    expected = stats.ttest_1samp(values, 0)
    assert found.p_value(values.mean()) == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert found.half_width() == pytest.approx((high - low) / 2)


def test_pseudo_values_of_a_mean_are_the_values():
    x = np.random.default_rng(0).standard_normal((3, 8))
    without = (x.sum(axis=1, keepdims=True) - x) / 7
    np.testing.assert_allclose(pseudo_values(x.mean(axis=1), without), x, atol=1e-12)


def test_over_datasets_by_hand():
    def variance(*numbers: float) -> Variance:
        return Variance(*(np.asarray(number) for number in numbers))

    found = over_datasets([variance(3.0, 1.0, 4.0, 29.0, 5.0), variance(2.0, 0.0, 9.0, 19.0, 9.0)])
    assert found.variance == pytest.approx(6 / 4)
    assert found.freedom == pytest.approx(36 / (16 / 5 + 4 / 9))
    assert found.seeds_freedom == pytest.approx(25 / (9 / 4 + 4 / 9))
    assert found.identities_freedom == pytest.approx(29)


@pytest.mark.parametrize(("of_seeds", "of_identities"), [(1.0, 0.49), (0.01, 1.0), (1.0, 1e-9), (1.0, 0.0)])
def test_p_value_is_the_tail_of_two_t_variables(of_seeds, of_identities):
    rng = np.random.default_rng(0)
    draws = np.sqrt(of_seeds) * rng.standard_t(4, 10**6) + np.sqrt(of_identities) * rng.standard_t(20, 10**6)
    variance = Variance(*(np.asarray(v) for v in (of_seeds, of_identities, 4.0, 20.0, 4.0)))
    for difference in (0.0, 1.0, 3.0, 8.0):
        expected = (np.abs(draws) > difference).mean()
        assert variance.p_value(np.asarray(difference)) == pytest.approx(expected, rel=0.03, abs=3e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 8), st.integers(2, 12), st.integers(0, 10**6), st.floats(0.01, 100))
def test_scale_order_and_bounds(seeds, identities, seed, scale):
    rng = np.random.default_rng(seed)
    d = rng.standard_normal((seeds, identities)) + rng.standard_normal((seeds, 1))
    found = two_way_variance(d.mean(axis=1), d)
    shuffled = (scale * d + 3)[rng.permutation(seeds)][:, rng.permutation(identities)]
    again = two_way_variance(shuffled.mean(axis=1), shuffled)
    assert again.variance == pytest.approx(scale**2 * found.variance)
    assert again.freedom == pytest.approx(found.freedom)
    assert found.variance >= d.mean(axis=1).var(ddof=1) / seeds
    assert np.isfinite(found.freedom)
