"""Angles, and the scatter of compactness against separation."""

import numpy as np
import pandas as pd
import pytest

from benchmark.plots import angles, geometry
from benchmark.plots._style import looks
from tests.benchmark.plots.seen import faults


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
    medians = f"{np.median(found['a'].own):.0f}° and {np.median(found['a'].other):.0f}°"
    assert f"a ({medians})" in angles.finding(found, "closed")
    assert "weight of its own class" in angles.caption("closed", 2)
    assert "no class weights" in angles.caption("open", 2)


def table() -> pd.DataFrame:
    rows = [("a", "d", 10.0, 90.0), ("a", "d", 12.0, 92.0), ("b", "d", 5.0, 95.0), ("c", "d", np.nan, 95.0)]
    rows += [("a", "e", 20.0, 30.0), ("b", "e", 21.0, 32.0)]
    frame = pd.DataFrame(rows, columns=["loss", "dataset", "train/wc_intra", "train/c_inter_min"])
    return frame.assign(dim=64)


def test_a_mark_is_a_loss_s_mean_below_what_is_possible() -> None:
    means = geometry.mean_geometry(table(), {"d": 10, "e": 300})
    figure = geometry.figure(means, looks(["a", "b", "c"], "a"))
    first, second = figure.axes
    assert [first.get_title(), second.get_title()] == ["d", "e"]
    marks = [line.get_xydata()[0].tolist() for line in first.lines if len(line.get_xdata()) == 1]
    assert marks == [[11.0, 91.0], [5.0, 95.0]]
    assert [text.get_text() for text in first.texts] == ["impossible: above 96.4°", "a", "b"]
    (limit,) = (line for line in first.lines if line.get_linestyle() == "--")
    assert limit.get_ydata()[0] == pytest.approx(96.379, abs=1e-3)
    low, high = first.get_ylim()
    assert low < 91
    assert high > 96.4
    assert faults(figure) == []
    words = geometry.finding(means)
    assert "On d, b has the smallest WC-Intra (5.0°) and the largest C-Inter-min (95.0°)." in words
    assert "On e, a has the smallest WC-Intra (20.0°) and b the largest C-Inter-min (32.0°)." in words
    assert "96.4° on d and 90.0° on e" in geometry.caption(means)


def test_a_far_limit_is_named_and_does_not_flatten_the_marks() -> None:
    axes = geometry.figure(geometry.mean_geometry(table(), {"d": 10, "e": 300}), looks(["a", "b"], "a")).axes[1]
    assert axes.texts[0].get_text() == "↑ not all can exceed 90.0°"
    low, high = axes.get_ylim()
    assert 5 <= high - low < 10  # 2° between the losses: at least 5° are shown


@pytest.mark.parametrize(
    ("classes", "dim", "degrees"), [(10, 64, 96.379), (65, 64, 90.895), (66, 64, 90.0), (2, 2, 180.0), (10, 2, 36.0)]
)
def test_the_largest_angle_is_the_simplex_s_while_there_is_room(classes: int, dim: int, degrees: float) -> None:
    assert geometry.largest_angle(classes, dim) == pytest.approx(degrees, abs=1e-3)


def test_a_table_without_angles_has_no_marks() -> None:
    assert len(geometry.mean_geometry(table()[["loss", "dataset", "dim"]], {"d": 10, "e": 300})) == 0
