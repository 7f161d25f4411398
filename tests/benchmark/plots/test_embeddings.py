"""Embeddings on the circle, on the sphere and on maps."""

import numpy as np
import pytest

from benchmark.plots import circle, sphere, tsne


def on_a_circle(degrees: list[float], weight: bool = True) -> circle.Embedded:
    angles = np.radians(degrees)
    rays = np.array([[1.0, 0.0], [0.0, 1.0]])
    labels = np.array([0, 1] * (len(degrees) // 2))
    return circle.Embedded(np.column_stack([np.cos(angles), np.sin(angles)]), labels, rays if weight else None)


def test_dots_lie_on_the_circle_and_bars_count_them() -> None:
    points = on_a_circle([1, 91, 1, 95, 1, 99])
    axes = circle.figure({"a": points}).axes[0]
    dots = axes.collections[-1]
    np.testing.assert_allclose(dots.get_offsets(), points.directions)
    bars = [np.linalg.norm(part[1] - part[0]) for lines in axes.collections[:-1] for part in lines.get_segments()]
    assert bars == pytest.approx([circle.TALLEST] + [circle.TALLEST / 3] * 3)
    rays = [line.get_xydata()[1].tolist() for line in axes.lines]
    assert rays == [[1.0, 0.0], [0.0, 1.0]]
    assert [text.get_text() for text in axes.texts] == ["0", "1"]


def test_identities_without_weights_have_no_rays() -> None:
    points = on_a_circle([0, 90], weight=False)
    assert not circle.figure({"a": points}).axes[0].lines
    assert "no rays" in circle.caption({"a": points}, "seed 0")


def test_the_angle_to_the_centre_is_told() -> None:
    near, far = on_a_circle([10, 90, -10, 90]), on_a_circle([30, 90, -30, 90])
    words = circle.finding({"near": near, "far": far})
    assert words == "The mean angle of an image to the centre of its class is between 5° (near) and 15° (far)."


def test_the_sphere_is_turned_not_bent() -> None:
    random = np.random.default_rng(0)
    centres = random.standard_normal((10, 3))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    turn = sphere.best_view(centres)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    directions = np.repeat(centres, 5, axis=0)
    points = circle.Embedded(directions, np.repeat(np.arange(10), 5), centres)
    axes = sphere.figure({"a": points}).axes[0]
    seen = directions @ turn.T
    dots = axes.collections[-1].get_offsets()
    order = np.argsort(seen[:, 2], kind="stable")  # the nearest are drawn last
    np.testing.assert_allclose(dots, seen[order, :2])
    assert len(axes.texts) == 10


def test_the_view_keeps_classes_apart() -> None:
    opposite = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    flat = opposite @ sphere.best_view(opposite)[:2].T
    assert min(np.linalg.norm(flat[i] - flat[j]) for i in range(3) for j in range(i)) > 0.8


def test_maps_are_repeatable_and_take_the_same_few_images() -> None:
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(30), 40)
    embeddings = random.standard_normal((30, 16))[labels] + 0.1 * random.standard_normal((len(labels), 16))
    first, second = tsne.place(embeddings, labels), tsne.place(embeddings, labels)
    assert first is not None
    assert second is not None
    assert np.array_equal(first.places, second.places)
    assert len(np.unique(first.labels)) == tsne.CLASSES
    assert np.bincount(first.labels).max() == tsne.IMAGES
    centres = np.array([first.places[first.labels == label].mean(axis=0) for label in np.unique(first.labels)])
    nearest = np.linalg.norm(first.places[:, None] - centres[None], axis=2).argmin(axis=1)
    assert (np.unique(first.labels)[nearest] == first.labels).all()


def test_too_few_or_equal_embeddings_make_no_map() -> None:
    assert tsne.place(np.eye(4), np.arange(4)) is None
    assert tsne.place(np.ones((50, 4)), np.zeros(50, dtype=np.int64)) is None
    assert tsne.place(np.zeros((50, 4)), np.zeros(50, dtype=np.int64)) is None
