"""A column: a metric on a split, as tables show it. A column that no run has a value for is not shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmark.metrics._registry import MEASURES, Better, Measure, Metric, Protocol, TableName, Unit, stored
from datasets._names import ONLY_TEST

if TYPE_CHECKING:
    import pandas as pd

IMAGES = {"train": "training images", "test": "test images", "val": "validation images"}
HIDDEN = "val"  # tables show no validation results
PROTOCOLS: tuple[Protocol, ...] = ("closed", "open")


@dataclass(frozen=True)
class MetricColumn:
    """A metric on a split; without one it is of the class weights alone.

    >>> column("test/eer").shown(0.0436)
    '4.36\\xa0%'
    >>> column("test/eer").on("val").key
    'val/eer'
    """

    metric: Metric
    split: str = ""
    names_split: bool = False  # in the heading: the metric is shown on other splits

    @property
    def key(self) -> str:
        """In the tidy frame, such as test/eer."""
        return stored(self.split, self.metric)

    @property
    def heading(self) -> str:
        return f"{self.metric.heading}, {self.split}" if self.names_split else self.metric.heading

    @property
    def meaning(self) -> str:
        return f"{IMAGES[self.split]}: {self.metric.meaning}" if self.names_split else self.metric.meaning

    @property
    def unit(self) -> Unit:
        return self.metric.unit

    @property
    def decimals(self) -> int:
        return self.metric.decimals

    @property
    def better(self) -> Better:
        return self.metric.better

    @property
    def lower_is_better(self) -> bool:
        return self.better == "lower"

    @property
    def factor(self) -> float:
        """What a stored value is multiplied by to be shown."""
        return 100.0 if self.unit == "%" else 1.0

    @property
    def title(self) -> str:
        """The heading with its unit: `EER, %`."""
        return f"{self.heading}, {self.unit}" if self.unit else self.heading

    @property
    def slug(self) -> str:
        """A name for files and anchors."""
        return "".join(mark if mark.isalnum() else "-" for mark in self.key.lower())

    def shown(self, value: float) -> str:
        """`95.64 %`, `81.2°` or `0.998`, on one line."""
        text = f"{value * self.factor:.{self.decimals}f}"
        return f"{text}\u00a0%" if self.unit == "%" else f"{text}{self.unit}"

    def on(self, split: str) -> "MetricColumn":
        """The same metric on another split."""
        return column(stored(split, self.metric))


def keys(test_sets: Sequence[str] = (ONLY_TEST,)) -> tuple[str, ...]:
    """The keys of all metrics that a run with these `test_sets` may have, sorted.

    >>> "test/eer" in keys()
    True
    """
    return tuple(sorted({key for one in MEASURES.items().values() for key in one.keys(test_sets)}))


def columns() -> tuple[MetricColumn, ...]:
    """The columns that tables show, in their order: performance, then geometry; the training split first.

    >>> [one.key for one in columns()][:2]
    ['test/classification_accuracy', 'test/accuracy']
    """
    shown = [one for one in _known().values() if one.metric.table and one.split != HIDDEN]
    return tuple(sorted(shown, key=_order))


def column(key: str) -> MetricColumn:
    """How the metric with this `key` is shown. A metric that no measure declares is shown as it is stored, under its
    key.

    >>> column("test/eer").title
    'EER, %'
    """
    plain = Metric(key, key, "", unit="", range=(-math.inf, math.inf), decimals=3, table="")
    return _known().get(key, MetricColumn(plain))


def main_columns() -> dict[str, MetricColumn]:
    """The main metric of datasets of each protocol, on the test split.

    >>> main_columns()["open"].key
    'test/accuracy'
    """
    shown = columns()
    return {name: next(one for one in shown if one.metric.main == name) for name in PROTOCOLS}


def measured(results: "pd.DataFrame", table: TableName) -> list[MetricColumn]:
    """The columns of a `table` that some run in `results` has a value for, without those that repeat an earlier one.

    >>> import pandas as pd
    >>> [one.key for one in measured(pd.DataFrame({"test/eer": [0.1], "test/auc": [None]}), "performance")]
    ['test/eer']
    """
    found: list[MetricColumn] = []
    for one in columns():
        if one.metric.table != table or not has_value(results, one.key):
            continue
        if not any(results[one.key].equals(results[earlier.key]) for earlier in found):
            found.append(one)
    return found


def main_column(results: "pd.DataFrame") -> MetricColumn | None:
    """The main metric of one dataset: the classifier's accuracy where the test classes are the training classes
    (closed), that of verification where they are not (open). None if no run in `results` has either.

    >>> import pandas as pd
    >>> main_column(pd.DataFrame({"test/accuracy": [0.9]})).key
    'test/accuracy'
    """
    return next((one for one in main_columns().values() if has_value(results, one.key)), None)


def has_value(results: "pd.DataFrame", key: str) -> bool:
    """Whether some run in `results` has a value of the metric `key`.

    >>> import pandas as pd
    >>> has_value(pd.DataFrame({"test/eer": [None, 0.1]}), "test/eer")
    True
    """
    return key in results and bool(results[key].notna().any())


def _order(one: MetricColumn) -> tuple[bool, bool, bool, float, str]:
    of_test = one.split not in ("", "train")
    is_newcomer = one.metric.place == math.inf
    return one.metric.table == "geometry", is_newcomer, of_test, one.metric.place, one.key


def _known() -> dict[str, MetricColumn]:
    return _columns_of(tuple(MEASURES.items().values()))


@lru_cache(maxsize=4)
def _columns_of(measures: tuple[Measure, ...]) -> dict[str, MetricColumn]:
    """By key, for all metrics on all their splits."""
    splits: dict[Metric, set[str]] = {}
    for one in measures:
        for metric in one.metrics:
            splits.setdefault(metric, set()).update(one.splits or ("",))
    return {
        stored(split, metric): MetricColumn(metric, split, names_split=split == HIDDEN or len(on - {HIDDEN}) > 1)
        for metric, on in splits.items()
        for split in on
    }
