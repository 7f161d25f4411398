"""The catalogue of metrics that tables show: to add a column, add an entry here.

Keys are those of `scoring.figures` and of the tidy frame; a column that no run has a value for is not shown.
"""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

Better = Literal["higher", "lower", "neither"]
Group = Literal["performance", "geometry"]


@dataclass(frozen=True)
class MetricColumn:
    """How one metric is shown."""

    key: str  # in the tidy frame, such as test/eer
    heading: str
    unit: Literal["%", "°", ""]
    decimals: int
    better: Better
    meaning: str
    group: Group = "performance"

    @property
    def factor(self) -> float:
        """What a stored value is multiplied by to be shown."""
        return 100.0 if self.unit == "%" else 1.0

    @property
    def title(self) -> str:
        """The heading with its unit: `EER, %`."""
        return f"{self.heading}, {self.unit}" if self.unit else self.heading

    @property
    def lower_is_better(self) -> bool:
        return self.better == "lower"

    @property
    def slug(self) -> str:
        """A name for files and anchors."""
        return "".join(mark if mark.isalnum() else "-" for mark in self.key.lower())

    def shown(self, value: float) -> str:
        """`95.64 %`, `81.2°` or `0.998`, on one line."""
        text = f"{value * self.factor:.{self.decimals}f}"
        return f"{text}\u00a0%" if self.unit == "%" else f"{text}{self.unit}"


def _percent(key: str, heading: str, meaning: str, better: Better = "higher") -> MetricColumn:
    return MetricColumn(key, heading, "%", 2, better, meaning)


def _degrees(key: str, heading: str, meaning: str) -> MetricColumn:
    return MetricColumn(key, heading, "°", 1, "neither", meaning, "geometry")


CLASSIFICATION = _percent(
    "test/classification_accuracy",
    "Classification accuracy",
    "test images whose class has the highest score; closed sets only",
)
VERIFICATION = _percent(
    "test/accuracy",
    "Verification accuracy",
    "test pairs rightly called same or different, the threshold picked on the other folds",
)

COLUMNS: tuple[MetricColumn, ...] = (
    CLASSIFICATION,
    VERIFICATION,
    _percent("test/eer", "EER", "error rate at which as many same pairs are refused as different accepted", "lower"),
    MetricColumn("test/auc", "AUC", "", 4, "higher", "area under ROC: a same pair scores above a different one"),
    _percent("test/tar@far=1e-1", "TAR@FAR=1e-1", "same pairs accepted when 10 % of different pairs are"),
    _percent("test/tar@far=1e-2", "TAR@FAR=1e-2", "same pairs accepted when 1 % of different pairs are"),
    _percent("test/tar@far=1e-3", "TAR@FAR=1e-3", "same pairs accepted when 0.1 % of different pairs are"),
    _percent("test/tar@far=1e-4", "TAR@FAR=1e-4", "same pairs accepted when 0.01 % of different pairs are"),
    _percent("test/map@r", "MAP@R", "mean average precision among an image's R nearest; R others are of its class"),
    _percent("test/recall@1", "Recall@1", "test images whose nearest other one is of their class"),
    _percent("test/recall@5", "Recall@5", "test images with one of their class among the five nearest"),
    _percent("test/ncm_accuracy", "NCM accuracy", "test images nearest to the training centre of their own class"),
    _percent("test/classification_class_accuracy", "Class-mean accuracy", "classification, mean over the classes"),
    _percent("test/classification_accuracy_frequent", "Frequent classes", "classes of more than 100 training images"),
    _percent("test/classification_accuracy_medium", "Medium classes", "classes of 20 to 100 training images"),
    _percent("test/classification_accuracy_rare", "Rare classes", "classes of fewer than 20 training images"),
    _percent("test/ece", "ECE", "calibration: how far confidence is from accuracy; cross-entropy losses only", "lower"),
    MetricColumn("test/nll", "NLL", "", 3, "lower", "negative log-likelihood of the class; cross-entropy losses only"),
    _degrees("train/wc_intra", "WC-Intra", "training images: a class's centre to its weight vector"),
    _degrees("train/intra", "Intra, train", "training images: an embedding to its class's centre"),
    _degrees("w_inter", "W-Inter", "weight vectors of two classes, mean over all pairs"),
    _degrees("w_inter_min", "W-Inter-min", "a class's weight vector to the nearest other one, mean over classes"),
    _degrees("train/c_inter", "C-Inter, train", "training images: centres of two classes, mean over all pairs"),
    _degrees("train/c_inter_min", "C-Inter-min, train", "training images: a class's centre to the nearest other one"),
    _degrees("test/intra", "Intra, test", "test images: an embedding to its class's centre"),
    _degrees("test/c_inter", "C-Inter, test", "test images: centres of two classes, mean over all pairs"),
    _degrees("test/c_inter_min", "C-Inter-min, test", "test images: a class's centre to the nearest other one"),
)


def measured(results: pd.DataFrame, group: Group) -> list[MetricColumn]:
    """The columns of a group that some run has a value for, and that are no mere repetition of one before."""
    found: list[MetricColumn] = []
    for column in COLUMNS:
        if column.group != group or column.key not in results or not results[column.key].notna().any():
            continue
        if not any(results[column.key].equals(results[earlier.key]) for earlier in found):
            found.append(column)
    return found


def primary(results: pd.DataFrame) -> MetricColumn | None:
    """The main figure of one dataset: the classifier's accuracy where the test classes are the
    training classes (closed), verification's where they are not (open); None if no run has either."""
    for column in (CLASSIFICATION, VERIFICATION):
        if column.key in results and results[column.key].notna().any():
            return column
    return None
