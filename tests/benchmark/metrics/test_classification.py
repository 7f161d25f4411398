import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, top_k_accuracy_score

from benchmark.metrics import calibration, classification, ncm_of_split


def logits_and_labels(n: int = 500, classes: int = 7, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    return rng.standard_normal((n, classes)) + 1.5 * np.eye(classes)[labels], labels


def test_accuracy_equals_scikit_learns():
    logits, labels = logits_and_labels()
    figures = classification(logits, labels)
    assert figures["accuracy"] == pytest.approx(accuracy_score(labels, logits.argmax(1)))
    assert figures["class_accuracy"] == pytest.approx(balanced_accuracy_score(labels, logits.argmax(1)))
    assert figures["top5_accuracy"] == pytest.approx(top_k_accuracy_score(labels, logits, k=5))


def test_a_tie_is_shared():
    assert classification(np.zeros((4, 4)), [0, 1, 2, 3])["accuracy"] == 0.25
    assert classification([[1.0, 1.0, 0.0]], [0])["accuracy"] == 0.5
    assert classification([[1.0, 1.0, 0.0]], [2])["accuracy"] == 0.0
    assert classification(np.zeros((1, 8)), [3])["top5_accuracy"] == 5 / 8
    assert classification([[9.0, 9, 9, 1, 1, 1, 0, 0]], [4])["top5_accuracy"] == 2 / 3  # two places for three
    assert classification([[9.0, 9, 9, 1, 1, 1, 0, 0]], [6])["top5_accuracy"] == 0.0


def test_five_classes_are_all_among_the_first_five():
    assert classification(np.eye(5), np.arange(5)[::-1])["top5_accuracy"] is None
    assert classification(np.eye(6), np.arange(6))["top5_accuracy"] == 1.0


def test_by_frequency():
    logits = np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]])
    figures = classification(logits, [0, 1, 2, 2], class_counts=[101, 50, 5])
    assert figures["accuracy_frequent"] == 1.0
    assert figures["accuracy_medium"] == 0.0
    assert figures["accuracy_rare"] == 0.5


@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [([[np.nan, 0.0]], [0], "NaN"), ([[1.0, 0.0]], [2], "label 2 has no logit"), ([[1.0, 0.0]], [-1], "label -1")],
)
def test_wrong_input_is_named(logits, labels, message):
    for metric in (classification, calibration):
        with pytest.raises(ValueError, match=message):
            metric(logits, labels)


def test_nothing_to_measure():
    assert classification(np.zeros((0, 3)), np.zeros(0, dtype=int))["accuracy"] is None
    assert calibration(np.zeros((0, 3)), np.zeros(0, dtype=int))["ece"] is None
    assert ncm_of_split(np.zeros((2, 3)), [0, 1], np.eye(3))["ncm_accuracy"] is None


def test_nearest_class_mean_with_training_centres():
    x = [[1.0, 0.1], [0.1, 1.0], [1.0, 0.9], [0.0, 0.0], [1, 1]]
    figures = ncm_of_split(x, [0, 1, 1, 0, 2], centres=[[2.0, 0], [0, 0.5], [0, 0]])
    assert figures["ncm_accuracy"] == pytest.approx(2 / 3)
    assert figures["left_out_samples"] == 2  # a zero vector, and one whose class has no centre
    with pytest.raises(ValueError, match="label 2 has no centre"):
        ncm_of_split(x, [0, 1, 1, 0, 2], centres=np.eye(2))


def test_calibration_by_hand():
    # confidences .8 (twice right, twice wrong) and .6 (right): |.8−.5|·4/5 + |.6−1|·1/5
    def logit(p: float) -> float:
        return float(np.log(p / (1 - p)))

    logits = np.array([[logit(0.8), 0.0]] * 4 + [[logit(0.6), 0.0]])
    figures = calibration(logits, [0, 0, 1, 1, 0], bins=10)
    assert figures["ece"] == pytest.approx(0.3 * 4 / 5 + 0.4 / 5)
    assert figures["mce"] == pytest.approx(0.4)
    assert figures["brier"] == pytest.approx((2 * 2 * 0.04 + 2 * 2 * 0.64 + 2 * 0.16) / 5)


def test_calibration_of_a_posterior_that_is_true():
    rng = np.random.default_rng(0)
    logits = 2 * rng.standard_normal((40_000, 5))
    posterior = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = (posterior.cumsum(axis=1) < rng.random((40_000, 1))).sum(axis=1).clip(0, 4)
    figures = calibration(logits, labels)
    assert figures["ece"] < 0.01
    assert calibration(3 * logits, labels)["ece"] > 0.1
    assert figures["nll"] == pytest.approx(log_loss(labels, posterior))


def test_huge_logits_do_not_overflow():
    figures = calibration([[1e4, -1e4], [1e300, 0]], [0, 0])
    assert figures["ece"] == 0.0
    assert all(np.isfinite(value) for value in figures.values())


def test_bins_are_closed_above():
    logits = np.log([[0.75, 0.25], [0.55, 0.45], [1.0, 1e-30]])
    figures = calibration(logits, [0, 1, 0], bins=10)  # three bins of one sample each
    assert figures["ece"] == pytest.approx((0.25 + 0.55 + 0.0) / 3)
    assert figures["mce"] == pytest.approx(0.55)
