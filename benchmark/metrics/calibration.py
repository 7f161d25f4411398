"""Whether the classifier's confidence is its accuracy; only for logits that define a posterior."""

from dataclasses import dataclass

import numpy as np

from benchmark.metrics.classification import classification_per_sample
from benchmark.metrics.inputs import Floats, Ints, Measured, Values, as_matrix

BINS = 15
LOWER_IS_BETTER = frozenset({"ece", "mce", "nll", "brier"})


@dataclass(frozen=True)
class Reliability:
    """Confidence and accuracy in bins of equal width; empty bins have zero samples and zeros."""

    edges: Floats
    samples: Ints
    confidence: Floats
    accuracy: Floats


def calibration(logits: Values, labels: Values, bins: int = BINS) -> Measured:
    """Expected and largest calibration error (bins of equal width), negative log-likelihood, Brier score.

    The logits are those whose softmax is the posterior, scale included.
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
    """The reliability diagram's bars."""
    matrix = as_matrix(logits, "logits").astype(np.float64)
    credit, _ = classification_per_sample(matrix, labels)
    return _reliability(np.exp(_log_softmax(matrix).max(axis=1)), credit, bins)


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
