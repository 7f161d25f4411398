"""Rules and bounds against values worked out by hand or by other means."""

import math

import numpy as np
import pytest
from scipy.special import lambertw

from benchmark.advice.theory import (
    RULES,
    arcgrad_maximiser,
    arcgrad_quoted,
    largest_angle,
    largest_angular_margin,
    largest_cosine_margin,
    smallest_scale,
)

BY_NAME = {rule.name: rule for rule in RULES}


@pytest.mark.parametrize(
    ("classes", "posterior", "s"),
    [
        (10, 0.9, 3.955),
        (10, 0.99, 6.113),
        (100, 0.9, 6.724),
        (100, 0.99, 9.098),
        (10572, 0.9, 11.46),
        (10572, 0.99, 13.86),
    ],
)
def test_cosface_s_bound(classes: int, posterior: float, s: float) -> None:
    assert smallest_scale(classes, posterior) == pytest.approx(s, rel=5e-4)


def test_at_the_bound_the_centres_of_a_simplex_have_that_posterior() -> None:
    for classes, posterior in ((3, 0.9), (10, 0.99), (1000, 0.5)):
        s = smallest_scale(classes, posterior)
        others = (classes - 1) * math.exp(-s / (classes - 1))
        assert math.exp(s) / (math.exp(s) + others) == pytest.approx(posterior, rel=1e-12)


@pytest.mark.parametrize(("classes", "s"), [(10, 3.107), (47, 5.415), (100, 6.498), (1623, 10.453), (10572, 13.104)])
def test_adacos(classes: int, s: float) -> None:
    assert BY_NAME["AdaCos, fixed"].scale(classes, 1.0) == pytest.approx(s, rel=2e-4)


@pytest.mark.parametrize(("classes", "s"), [(10, 10.80), (47, 18.818)])
def test_adaacos(classes: int, s: float) -> None:
    assert BY_NAME["AdaAcos, s=auto"].scale(classes, 1.0) == pytest.approx(s, rel=1e-3)


@pytest.mark.parametrize(("classes", "quoted", "maximiser"), [(10, 2.679, 2.101), (47, 3.799, 3.091)])
def test_arcgrad_s_two_rules(classes: int, quoted: float, maximiser: float) -> None:
    assert arcgrad_quoted(classes, 1.0) == pytest.approx(quoted, rel=3e-4)
    assert arcgrad_maximiser(classes, 1.0) == pytest.approx(maximiser, rel=3e-4)
    assert arcgrad_quoted(classes, 0.5) == pytest.approx(2 * quoted, rel=3e-4)
    assert arcgrad_quoted(10**9, 1.0) == pytest.approx(float(lambertw(1e9 - 1).real) + 1.0)


def test_the_maximiser_does_maximise_the_slope() -> None:
    """With logits −s·θ and all others a gap of 1 further away, the slope is s·(C−1)/(C−1+eˢ)."""
    scales = np.linspace(0.5, 8.0, 75_001)
    for classes in (10, 47, 1000):
        slope = scales * (classes - 1) / (classes - 1 + np.exp(scales))
        assert scales[np.argmax(slope)] == pytest.approx(arcgrad_maximiser(classes, 1.0), abs=2e-4)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_rises_with_the_classes_and_stays_finite(rule: object) -> None:
    scales = [rule.scale(10**power, 1.0) for power in range(1, 13)]  # type: ignore[attr-defined]
    assert np.isfinite(scales).all()
    assert (np.diff(scales) > 0).all()


@pytest.mark.parametrize(
    ("classes", "dim", "m"),
    [
        (2, 1, 2.0),
        (2, 64, 2.0),
        (10, 9, 10 / 9),
        (10, 512, 10 / 9),
        (3, 2, 1.5),
        (4, 2, 1.0),
        (8, 2, 1 - math.cos(math.pi / 4)),
        (1000, 2, 1 - math.cos(2 * math.pi / 1000)),
        (11, 9, 1.0),
        (100, 64, 1.0),
        (10**9, 512, 1.0),
        (3, 1, 0.0),
    ],
)
def test_the_largest_margin_on_the_cosine(classes: int, dim: int, m: float) -> None:
    assert largest_cosine_margin(classes, dim).largest == pytest.approx(m, abs=1e-9)


def test_on_the_sphere_caps_give_the_bound() -> None:
    """In three dimensions a cap of angle r covers (1 − cos r)/2."""
    expected = 2 * math.acos(1 - 2 / 1000)
    assert largest_angle(1000, 3)[0] == pytest.approx(expected, rel=1e-9)


def test_no_arrangement_exceeds_the_bound() -> None:
    """Random directions pushed apart, and the arrangements that reach it."""
    rng = np.random.default_rng(0)
    for classes, dim in ((5, 4), (6, 3), (12, 3), (30, 3), (20, 10), (40, 8)):
        rows = rng.standard_normal((classes, dim))
        for _ in range(300):
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            gram = rows @ rows.T - 2 * np.eye(classes)
            rows = rows - 0.05 * np.exp(20 * (gram - gram.max())) @ rows
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        nearest = float((rows @ rows.T - 2 * np.eye(classes)).max())
        assert math.acos(nearest) <= largest_angle(classes, dim)[0] + 1e-9
    octahedron = np.vstack([np.eye(3), -np.eye(3)])
    assert math.acos(float((octahedron @ octahedron.T - 2 * np.eye(6)).max())) == pytest.approx(largest_angle(6, 3)[0])


def test_the_angular_margin_is_that_angle() -> None:
    assert largest_angular_margin(10, 64).largest == pytest.approx(math.radians(96.379), rel=1e-5)
    assert largest_angular_margin(10**6, 64).largest == pytest.approx(math.pi / 2)
    assert largest_angular_margin(2, 8).largest == pytest.approx(math.pi)
