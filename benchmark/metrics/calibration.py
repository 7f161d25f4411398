"""Whether the classifier's confidence is its accuracy; only for logits that define a posterior."""

import math
from dataclasses import dataclass

import numpy as np

from benchmark.metrics._inputs import Floats, Ints, Measured, Values, as_matrix
from benchmark.metrics._registry import Metric, measure
from benchmark.metrics.classification import classification_per_sample

BINS = 15


@dataclass(frozen=True)
class Reliability:
    """Confidence and accuracy in bins of equal width; empty bins have zero samples and zeros."""

    edges: Floats
    samples: Ints
    confidence: Floats
    accuracy: Floats


def calibration(logits: Values, labels: Values, bins: int = BINS) -> Measured:
    """Expected and largest calibration error (bins of equal width), negative log-likelihood, Brier score.

    The logits (N×C) are those whose softmax is the posterior, scale included; labels are N classes 0 … C−1, else
    `InputError`. Values are None without samples.

    >>> round(calibration([[0.0, 0.0], [0.0, 0.0]], [0, 1])["nll"], 4)
    0.6931
    """
    matrix = as_matrix(logits, "logits").astype(np.float64)
    credit, labels = classification_per_sample(matrix, labels)
    if not len(credit):
        return {"ece": None, "mce": None, "nll": None, "brier": None}
    log_posterior = _log_softmax(matrix)
    row = np.arange(len(labels))
    squares = np.exp(2 * log_posterior).sum(axis=1) - 2 * np.exp(log_posterior[row, labels]) + 1
    diagram = _reliability(np.exp(log_posterior.max(axis=1)), credit, bins)
    gaps = np.abs(diagram.confidence - diagram.accuracy)
    return {
        "ece": float(gaps @ diagram.samples / len(credit)),
        "mce": float(gaps.max()),
        "nll": float(-log_posterior[row, labels].mean()),
        "brier": float(squares.mean()),
    }


def reliability(logits: Values, labels: Values, bins: int = BINS) -> Reliability:
    """The reliability diagram's bars from the logits (N×C) and labels (N); `InputError` as in `calibration`.

    >>> reliability([[0.0, 0.0], [0.0, 0.0]], [0, 1], bins=2).samples.tolist()
    [2, 0]
    """
    matrix = as_matrix(logits, "logits").astype(np.float64)
    credit, _ = classification_per_sample(matrix, labels)
    return _reliability(np.exp(_log_softmax(matrix).max(axis=1)), credit, bins)


@measure(
    Metric(
        "ece",
        "ECE",
        "calibration: how far confidence is from accuracy; cross-entropy losses only",
        better="lower",
        place=170,
    ),
    Metric("mce", "MCE", "calibration error of the worst bin; cross-entropy losses only", better="lower", table=""),
    Metric(
        "nll",
        "NLL",
        "negative log-likelihood of the class; cross-entropy losses only",
        unit="",
        better="lower",
        range=(0.0, math.inf),
        decimals=3,
        place=180,
    ),
    Metric(
        "brier",
        "Brier score",
        "squared error of the posterior; cross-entropy losses only",
        unit="",
        better="lower",
        range=(0.0, 2.0),
        decimals=3,
        table="",
    ),
)
def calibration_of_split(logits: Values, labels: Values, posterior: Values = 1) -> Measured:
    """Nothing for a loss whose logits define no posterior."""
    return calibration(logits, labels) if int(posterior) else {}


@measure(
    Metric("posterior", "Posterior, train", "training images: mean posterior of their own class", table=""),
    splits=("train",),
)
def training_posterior(mean_posteriors: Floats, class_counts: Ints) -> float:
    """The mean over training images of the posterior of their own class, as the head in evaluation gives it."""
    weights = class_counts / max(class_counts.sum(), 1)
    return float(mean_posteriors @ weights)


def _reliability(confidence: Floats, credit: Floats, bins: int) -> Reliability:
    """Bins are open below and closed above, so that a confidence of 1 has a bin."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    which = np.clip(np.searchsorted(edges, confidence, "left") - 1, 0, bins - 1)
    samples = np.bincount(which, minlength=bins)
    per_bin = np.maximum(samples, 1)
    return Reliability(
        edges,
        samples,
        np.bincount(which, weights=confidence, minlength=bins) / per_bin,
        np.bincount(which, weights=credit, minlength=bins) / per_bin,
    )


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_posterior: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return log_posterior
