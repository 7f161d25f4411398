"""Angles, and the scatter of compactness against separation."""

import numpy as np
import pandas as pd
import pytest

from benchmark import metrics
from benchmark.plots import angles, geometry
from tests.benchmark.plots.seen import faults

VERIFICATION = metrics.column("test/accuracy")


def test_angles_to_the_own_class_and_to_the_nearest_other() -> None:
    def at(degrees: float) -> list[float]:
        return [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]

    run = {
        "test/embeddings": np.array([at(10), at(100), [0.0, 0.0], [5 * x for x in at(-20)]]),
        "test/labels": np.array([0, 1, 1, 0]),
        "weight": np.array([[3.0, 0.0], at(90), at(180)]),
    }
    found = angles.to_classes(run)
    assert found.own.tolist() == pytest.approx([10, 10, 20])
    assert found.other.tolist() == pytest.approx([80, 80, 110])


def test_angles_within_pairs() -> None:
    run = {
        "test/embeddings": np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [0.0, 0.0]]),
        "test/pairs": np.array([[0, 1], [0, 2], [1, 2], [0, 3]]),
        "test/same": np.array([True, False, False, True]),
    }
    found = angles.within_pairs(run)
    assert found.own.tolist() == pytest.approx([45])
    assert found.other.tolist() == pytest.approx([90, 45])


def test_both_histograms_have_the_same_area_and_hold_every_angle() -> None:
    random = np.random.default_rng(0)
    found = {"a": angles.Angles(random.uniform(0, 60, 500), random.uniform(50, 120, 2000))}
    axes = angles.figure(found, "closed").axes[0]
    for patch in axes.patches:
        corners = patch.get_path().vertices
        area = 0.5 * abs(np.dot(corners[:-1, 0], corners[1:, 1]) - np.dot(corners[1:, 0], corners[:-1, 1]))
        assert area == pytest.approx(1.0, rel=1e-6)
    assert axes.get_xlim()[1] >= found["a"].other.max()
    words = angles.caption(found, "d", "closed", 2)
    assert f"a {np.median(found['a'].own):.0f}° and {np.median(found['a'].other):.0f}°" in words
    assert "weight of its own class" in words
    assert "no class weights" in angles.caption(found, "d", "open", 2)


def table() -> pd.DataFrame:
    rows = [("a", "d", 10.0, 90.0, 0.9), ("a", "d", 12.0, 92.0, 0.7), ("b", "d", 5.0, 95.0, np.nan)]
    rows += [("c", "d", np.nan, 95.0, 0.5), ("a", "e", 20.0, 80.0, 0.6)]
    return pd.DataFrame(rows, columns=["loss", "dataset", "train/wc_intra", "train/c_inter", "test/accuracy"])


def test_a_dot_is_a_loss_s_mean() -> None:
    means = geometry.mean_geometry(table(), "test/accuracy")
    figure = geometry.figure(means, VERIFICATION)
    first = figure.axes[0]
    assert first.get_title() == "d"
    np.testing.assert_allclose(first.collections[0].get_offsets(), [[11.0, 91.0], [5.0, 95.0]])
    assert [text.get_text() for text in first.texts] == ["a", "b"]
    white = first.collections[0].get_facecolors()[1]
    assert white.tolist() == [1.0, 1.0, 1.0, 1.0]  # b has no accuracy
    assert faults(figure) == []
    words = geometry.caption(means, VERIFICATION)
    assert "d: b is the tightest with 5.0°, b the widest apart with 95.0°." in words


def test_a_table_without_angles_has_no_dots() -> None:
    assert len(geometry.mean_geometry(table()[["loss", "dataset", "test/accuracy"]], "test/accuracy")) == 0
