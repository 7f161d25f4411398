from importlib import import_module

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.metrics import class_centres, geometry, geometry_from_centres
from benchmark.metrics._angles import mean_cross_angle, row_angles, spread


def simplex(C: int) -> np.ndarray:
    """C unit vectors that all have the cosine −1/(C−1)."""
    rows = np.eye(C) - 1 / C
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def rotation(D: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((D, D)))[0]


def clusters(C: int = 6, n: int = 8, D: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    weight = rng.standard_normal((C, D))
    labels = np.repeat(np.arange(C), n)
    return weight[labels] + 0.3 * rng.standard_normal((C * n, D)), labels, weight


def test_orthogonal_axes_and_their_own_weights():
    figures = geometry(np.repeat(np.eye(3), 2, axis=0) * 7.0, [0, 0, 1, 1, 2, 2], np.eye(3))
    right_angles = ("w_inter", "c_inter", "cw_inter", "w_inter_min", "c_inter_min")
    assert [figures[name] for name in right_angles] == pytest.approx([90.0] * 5, abs=1e-12)
    assert figures["wc_intra"] == 0.0
    assert figures["intra"] == 0.0


def test_simplex_reaches_the_largest_smallest_angle():
    figures = geometry(simplex(10), np.arange(10), simplex(10))
    assert figures["w_inter"] == pytest.approx(96.3794, abs=1e-4)
    assert figures["w_inter_min"] == pytest.approx(np.degrees(np.arccos(-1 / 9)), abs=1e-10)
    assert figures["c_inter"] == pytest.approx(figures["w_inter"], abs=1e-10)


def test_antipodal_pairs_reach_the_largest_mean_angle():
    weight = np.repeat([[1.0, 0.0], [-1.0, 0.0]], 5, axis=0)
    assert geometry(weight, np.arange(10), weight)["w_inter"] == pytest.approx(100.0, abs=1e-10)
    assert geometry(weight, np.arange(10), weight)["w_inter_min"] == 0.0


def test_every_figure_by_hand_in_the_plane():
    def at(*degrees: float) -> np.ndarray:
        return np.column_stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])

    figures = geometry(at(-10, 10, 80, 120, 170, 190), [0, 0, 1, 1, 2, 2], at(5, 90, 180))
    assert figures["wc_intra"] == pytest.approx((5 + 10 + 0) / 3)
    assert figures["w_inter"] == pytest.approx((85 + 175 + 90) / 3)
    assert figures["w_inter_min"] == pytest.approx((85 + 85 + 90) / 3)
    assert figures["c_inter"] == pytest.approx((100 + 180 + 80) / 3)
    assert figures["c_inter_min"] == pytest.approx((100 + 80 + 80) / 3)
    assert figures["cw_inter"] == pytest.approx((90 + 180 + 95 + 80 + 175 + 90) / 6)
    assert figures["intra"] == pytest.approx((10 + 10 + 20 + 20 + 10 + 10) / 6)


@pytest.mark.parametrize("degrees", [1e-9, 1e-6, 1e-3, 0.01, 1.0, 90.0, 179.0, 179.99, 180 - 1e-3, 180 - 1e-6])
def test_angles_are_accurate_near_0_and_180(degrees):
    turn = rotation(8, 3)
    a, b = np.zeros(8), np.zeros(8)
    a[0], b[0], b[1] = 1.0, np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    rows = np.vstack([a, b]) @ turn
    assert spread(rows)[0] == pytest.approx(degrees, abs=1e-9)
    assert row_angles(rows[:1], rows[1:])[0] == pytest.approx(degrees, abs=1e-9)
    assert mean_cross_angle(rows, rows) == pytest.approx(degrees, abs=1e-9)


def test_fp32_embeddings_close_to_their_centre_are_not_off_by_hundredths():
    rng = np.random.default_rng(0)
    x = np.array([1.0] * 64) + 1e-4 * rng.standard_normal((200, 64))
    exact = geometry(x, np.zeros(200, dtype=int), None)["intra"]
    assert exact == pytest.approx(0.0057, abs=2e-4)
    assert geometry(x.astype(np.float32), np.zeros(200, dtype=int), None)["intra"] == pytest.approx(exact, abs=1e-5)


def test_blocks_agree_with_the_whole():
    rows = np.random.default_rng(1).standard_normal((2100, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    angles = np.degrees(np.arccos(np.clip(rows @ rows.T, -1, 1)))
    np.fill_diagonal(angles, 0)
    assert spread(rows)[0] == pytest.approx(angles.sum() / (2100 * 2099), abs=1e-7)
    np.fill_diagonal(angles, 360)
    assert spread(rows)[1] == pytest.approx(angles.min(axis=1).mean(), abs=1e-6)


def test_centres_give_the_figures_of_the_embeddings():
    x, labels, weight = clusters()
    kept = class_centres(x, labels, 6)
    direct = geometry(x, labels, weight)
    stored = geometry_from_centres(kept.centres, kept.counts, kept.mean_angles, weight)
    assert {name: direct[name] for name in stored} == stored
    in_fp32 = geometry_from_centres(
        kept.centres.astype(np.float32), kept.counts, kept.mean_angles.astype(np.float32), torch.tensor(weight)
    )
    assert in_fp32 == pytest.approx(stored, abs=1e-4)


def test_class_sums_over_many_blocks(monkeypatch):
    x, labels, weight = clusters(n=50)
    whole = geometry(x, labels, weight)
    monkeypatch.setattr(import_module("benchmark.metrics.geometry"), "_ROWS_AT_ONCE", 7)
    assert geometry(x, labels, weight) == pytest.approx(whole)


def test_empty_classes_and_zero_vectors_are_left_out_and_counted():
    x = np.array([[1.0, 0], [0, 1], [0, 0], [1, 0], [-1, 0]])
    figures = geometry(x, [0, 1, 1, 3, 3], np.array([[1.0, 0], [0, 1], [1, 1], [1, 0], [0, 0]]))
    assert figures["left_out_classes"] == 3  # 2 and 4 are empty, 3 cancels out
    assert figures["left_out_embeddings"] == 1
    assert figures["left_out_weights"] == 1
    assert figures["wc_intra"] == 0.0
    assert figures["c_inter"] == pytest.approx(90)
    assert figures["w_inter"] == pytest.approx((90 + 45 + 0 + 45 + 90 + 45) / 6)


def test_one_class_has_nothing_between_classes():
    figures = geometry([[1.0, 0], [0, 1]], [0, 0], [[1.0, 1]])
    assert figures["intra"] == pytest.approx(45)
    assert figures["wc_intra"] == pytest.approx(0, abs=1e-7)
    assert all(figures[name] is None for name in ("c_inter", "w_inter", "cw_inter", "c_inter_min", "w_inter_min"))


def test_no_embeddings_at_all():
    figures = geometry(np.zeros((0, 3)), np.zeros(0, dtype=int), np.eye(3))
    assert figures["w_inter"] == pytest.approx(90)
    assert figures["c_inter"] is None
    assert figures["intra"] is None
    assert figures["left_out_classes"] == 3


@pytest.mark.parametrize(
    ("x", "labels", "weight", "message"),
    [
        ([[1.0, np.nan], [0, 1]], [0, 1], None, "NaN"),
        ([[1.0, np.inf], [0, 1]], [0, 1], None, "infinity"),
        ([[1.0, 0], [0, 1]], [0, 2], np.eye(2), "label 2 has no class or weight row"),
        ([[1.0, 0], [0, 1]], [0, -1], None, "label -1"),
        ([[1.0, 0], [0, 1]], [0.0, 1.0], None, "whole numbers"),
        ([[1.0, 0], [0, 1]], [0], None, "shape"),
        ([[1.0, 0], [0, 1]], [0, 1], np.eye(3), "weight"),
        ([1.0, 0], [0, 1], None, "matrix"),
    ],
)
def test_wrong_input_is_named(x, labels, weight, message):
    with pytest.raises(ValueError, match=message):
        geometry(x, labels, weight)


def test_extreme_lengths_keep_their_direction():
    x = np.array([[1e-300, 0], [0, 1e300], [1e-38, 1e-38]])
    assert geometry(x, [0, 1, 2], None)["c_inter"] == pytest.approx((90 + 45 + 45) / 3)


arrangements = st.tuples(st.integers(2, 12), st.integers(1, 6), st.integers(0, 10**6))


@settings(max_examples=40, deadline=None)
@given(arrangements)
def test_limits_and_invariance(arrangement):
    C, D, seed = arrangement
    rng = np.random.default_rng(seed)
    weight = rng.standard_normal((C, D)).astype(np.float32)
    labels = rng.integers(0, C, 3 * C)
    x = rng.standard_normal((3 * C, D)).astype(np.float32)
    figures = geometry(x, labels, weight)
    assert figures["w_inter"] <= 180 * (C * C // 4) / (C * (C - 1) / 2) + 1e-9
    assert figures["w_inter_min"] <= np.degrees(np.arccos(-1 / (C - 1))) + 1e-6
    turn = rotation(D, seed)
    shuffled = rng.permutation(len(x))
    scale = rng.uniform(0.1, 10, (len(x), 1))
    again = geometry((x * scale @ turn)[shuffled], labels[shuffled], weight @ turn)
    for name, value in figures.items():
        assert value is None or np.isfinite(value)
        assert again[name] == (None if value is None else pytest.approx(value, abs=1e-3))


def test_a_stored_centre_without_images_is_left_out():
    figures = geometry_from_centres(np.eye(3), [2, 0, 1], [10.0, 0.0, 40.0])
    assert figures["left_out_classes"] == 1
    assert figures["intra"] == pytest.approx((2 * 10 + 40) / 3)
    nearest = geometry_from_centres([[1.0, 0], [1, 1], [0, 1]], [2, 0, 1], np.zeros(3))
    assert nearest["c_inter"] == pytest.approx(90)
