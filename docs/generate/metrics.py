"""The reference of the metrics, from their declarations."""

import math
from collections.abc import Iterator

from benchmark.metrics import MEASURES, Metric
from docs.generate.markdown import code, page, table, text

INTRODUCTION = (
    "A run stores a metric under its key with the split in front, such as `test/eer`; metrics of the class weights "
    "have no split. Metrics in per cent are stored as shares from 0 to 1. Reports show a metric in the table that the "
    "last column names; a dash means that only `summary.csv` has it."
)


def pages() -> Iterator[tuple[str, str | bytes]]:
    yield "reference/metrics.md", page("Metrics", INTRODUCTION, _table())


def _table() -> str:
    splits: dict[Metric, list[str]] = {}
    for measure in MEASURES.items().values():
        for metric in measure.metrics:
            splits.setdefault(metric, []).extend(measure.splits or ("class weights",))
    ordered = sorted(splits, key=lambda metric: (metric.table == "", metric.table == "geometry", metric.place))
    rows = [
        [
            code(metric.key),
            text(metric.heading),
            text(metric.meaning),
            metric.better,
            metric.unit or "–",
            _range(metric),
            ", ".join(dict.fromkeys(splits[metric])),
            metric.table or "–",
        ]
        for metric in ordered
    ]
    return table(("key", "heading", "meaning", "better", "unit", "range", "measured on", "shown in"), rows)


def _range(metric: Metric) -> str:
    low, high = ("−∞" if one == -math.inf else "∞" if one == math.inf else f"{one:g}" for one in metric.range)
    return f"{low} to {high}"
