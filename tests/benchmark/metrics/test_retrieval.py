from importlib import import_module

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
from pytorch_metric_learning.utils.inference import CustomKNN

from benchmark.metrics import retrieval, retrieval_per_query


def clusters(n: int, classes: int, seed: int, D: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    return (rng.standard_normal((classes, D))[labels] + rng.standard_normal((n, D))).astype(np.float32), labels


@pytest.mark.parametrize(("n", "classes"), [(200, 20), (300, 3), (120, 90)])
def test_equals_pytorch_metric_learning(n, classes):
    x, labels = clusters(n, classes, seed=n)
    peer = AccuracyCalculator(
        include=("precision_at_1", "mean_average_precision_at_r"),
        k="max_bin_count",
        device=torch.device("cpu"),
        knn_func=CustomKNN(CosineSimilarity()),
    ).get_accuracy(torch.tensor(x), torch.tensor(labels))
    figures = retrieval(x, labels)
    assert figures["recall@1"] == pytest.approx(peer["precision_at_1"], abs=1e-6)
    assert figures["map@r"] == pytest.approx(peer["mean_average_precision_at_r"], abs=1e-6)


def test_by_hand_on_a_quarter_circle():
    degrees = np.radians([0, 10, 25, 50, 60])
    x = np.column_stack([np.cos(degrees), np.sin(degrees)])
    figures = retrieval(x, [0, 1, 0, 1, 1])
    # nearest: 0°→10°, 10°→0°, 25°→10°, 50°→60°, 60°→50°
    assert figures["recall@1"] == pytest.approx(2 / 5)
    assert figures["recall@5"] == 1.0
    # R=1 for class 0: 0 and 0. R=2 for class 1: 10° finds 0°, 25°: 0; 50° and 60° find one first: 1/2
    assert figures["map@r"] == pytest.approx((0 + 0 + 0 + 0.5 + 0.5) / 5)


def brute_force(x: np.ndarray, labels: np.ndarray, draws: int, rng: np.random.Generator) -> dict[str, float]:
    """Ties broken at random, many times."""
    sums = {"recall@1": 0.0, "recall@5": 0.0, "map@r": 0.0}
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    scores = np.round(unit @ unit.T, 6)
    queries = [q for q in range(len(x)) if (labels == labels[q]).sum() > 1]
    for _ in range(draws):
        for q in queries:
            others = rng.permutation(np.delete(np.arange(len(x)), q))
            ranked = others[np.argsort(-scores[q, others], kind="stable")]
            hit = labels[ranked] == labels[q]
            R = hit.sum()
            sums["recall@1"] += hit[0]
            sums["recall@5"] += hit[:5].any()
            sums["map@r"] += (np.cumsum(hit)[:R] / np.arange(1, R + 1) * hit[:R]).sum() / R
    return {name: value / draws / len(queries) for name, value in sums.items()}


def test_ties_count_as_drawn_at_random():
    rng = np.random.default_rng(0)
    x = np.eye(3)[rng.integers(0, 3, 16)]  # three directions: nearly every score is tied
    labels = rng.integers(0, 4, 16)
    expected = brute_force(x, labels, 3000, rng)
    figures = retrieval(x, labels)
    assert {name: figures[name] for name in expected} == pytest.approx(expected, abs=0.01)


def test_a_collapsed_network_gets_chance():
    x = np.outer(np.arange(1, 31), [0.3, 0.1, -0.4])
    labels = np.repeat([0, 1, 2], 10)
    assert retrieval(x, labels)["recall@1"] == pytest.approx(9 / 29)
    assert retrieval(x[::-1], labels)["recall@1"] == pytest.approx(9 / 29)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 8))
def test_order_rotation_and_length_do_not_matter(seed, n, classes):
    x, labels = clusters(n, classes, seed, D=3)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    figures = retrieval(x, labels)
    again = retrieval((x.astype(float) * rng.uniform(0.1, 9, (n, 1)) @ turn)[order], labels[order])
    assert again == pytest.approx(figures, abs=1e-6)
    assert all(value is None or np.isfinite(value) for value in figures.values())


def test_blocks_of_queries_agree(monkeypatch):
    x, labels = clusters(100, 8, 0)
    whole = retrieval(x, labels)
    monkeypatch.setattr(import_module("benchmark.metrics.retrieval"), "_SCORES_AT_ONCE", 700)
    assert retrieval(x, labels) == pytest.approx(whole)


def test_single_images_and_zero_vectors_do_not_ask():
    figures = retrieval([[1.0, 0], [1, 0.1], [0, 1], [0, 0]], [0, 0, 1, 0])
    assert figures["n_queries"] == 2
    assert figures["left_out_queries"] == 2
    assert figures["recall@1"] == 1.0


@pytest.mark.parametrize("labels", [[], [0], [0, 1, 2]])
def test_nobody_can_ask(labels):
    figures = retrieval(np.ones((len(labels), 2)), np.array(labels, dtype=int))
    assert figures["recall@1"] is None
    assert figures["map@r"] is None


def test_frequent_medium_and_rare():
    x, labels = clusters(200, 4, 3)
    figures = retrieval(x, labels, class_counts=[500, 100, 20, 19])
    values, queries, _ = retrieval_per_query(x, labels)
    for name, members in {"frequent": [0], "medium": [1, 2], "rare": [3]}.items():
        assert figures[f"recall@1_{name}"] == pytest.approx(
            values["recall@1"][np.isin(labels[queries], members)].mean()
        )
    assert retrieval(x, np.zeros(200, dtype=int), class_counts=[500])["map@r_rare"] is None
    with pytest.raises(ValueError, match="has no count"):
        retrieval(x, labels, class_counts=[500, 100])


def test_nan_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        retrieval([[np.nan, 1.0], [1, 1]], [0, 0])
