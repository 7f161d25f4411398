"""Whether the classifier's confidence equals its accuracy; only for logits that define a posterior."""

import math
from functools import partial

import numpy as np

from benchmark.metrics._inputs import Floats, Ints, Measured, Values, as_matrix
from benchmark.metrics._registry import Metric, measure
from benchmark.metrics.classification import classification_per_sample

BINS = 15


def calibration(logits: Values, labels: Values, bins: int = BINS) -> Measured:
    """Expected and largest calibration error, negative log-likelihood and Brier score.

    `logits` (N×C) are those whose softmax is the posterior, scale included; `labels` are N classes 0 … C−1; `bins` is
    the number of confidence bins of equal width. `InputError` says what does not fit. Values are None without samples.

    >>> round(calibration([[0.0, 0.0], [0.0, 0.0]], [0, 1])["nll"], 4)
    0.6931
    """
    matrix = as_matrix(logits, "logits").astype(np.float64)
    credit, labels = classification_per_sample(matrix, labels)
    if not len(credit):
        return {"ece": None, "mce": None, "nll": None, "brier": None}
    shifted = matrix - matrix.max(axis=1, keepdims=True)
    log_posterior = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    row = np.arange(len(labels))
    squares = np.exp(2 * log_posterior).sum(axis=1) - 2 * np.exp(log_posterior[row, labels]) + 1
    confidence = np.exp(log_posterior.max(axis=1))
    # Bins are open below and closed above, so that a confidence of 1 has a bin.
    which = np.clip(np.searchsorted(np.linspace(0.0, 1.0, bins + 1), confidence, "left") - 1, 0, bins - 1)
    samples = np.bincount(which, minlength=bins)
    means = [np.bincount(which, part, bins) / np.maximum(samples, 1) for part in (confidence, credit)]
    gaps = np.abs(means[0] - means[1])
    return {
        "ece": float(gaps @ samples / len(credit)),
        "mce": float(gaps.max()),
        "nll": float(-log_posterior[row, labels].mean()),
        "brier": float(squares.mean()),
    }


_error = partial(Metric, better="lower")
_plain = partial(Metric, unit="", better="lower", range=(0.0, math.inf), decimals=3)


@measure(
    _error("ece", "ECE", "calibration: how far confidence is from accuracy; cross-entropy losses only", place=170),
    _error("mce", "MCE", "calibration error of the worst bin; cross-entropy losses only", table=""),
    _plain("nll", "NLL", "negative log-likelihood of the class; cross-entropy losses only", place=180),
    _plain(
        "brier", "Brier score", "squared error of the posterior; cross-entropy losses only", range=(0.0, 2.0), table=""
    ),
)
def calibration_of_split(logits: Values, labels: Values, posterior: Values = 1) -> Measured:
    """Returns nothing for a loss whose logits do not define a posterior."""
    return calibration(logits, labels) if int(posterior) else {}


@measure(
    Metric("posterior", "Posterior, train", "training images: mean posterior of their own class", table=""),
    splits=("train",),
)
def training_posterior(mean_posteriors: Floats, class_counts: Ints) -> float:
    """The mean over training images of the posterior of their own class, as the head in evaluation gives it."""
    weights = class_counts / max(class_counts.sum(), 1)
    return float(mean_posteriors @ weights)
