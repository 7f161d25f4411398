"""Where training fails: runs that diverged, are near chance, or have untrained class weights."""

import math
from collections.abc import Mapping

import pandas as pd

from benchmark.metrics import MetricColumn
from benchmark.scale_margin.settings import natural

NEAR = 0.1
"""Share of the way from chance to perfect; a value below it counts as near chance."""
UNRELATED = 80.0
"""Degrees between class centres and class weights; at this angle or more the weights are untrained (90 is chance)."""
COUNTS = ["diverged", "near_chance", "unlearned"]


def failures(
    rows: pd.DataFrame, metric_columns: Mapping[str, MetricColumn], classes: Mapping[str, int]
) -> pd.DataFrame:
    """dataset, loss, name, s, m, runs, and how many of them diverged, are near_chance or unlearned; settings without
    any are left out. A run is counted once, under the first that fits."""
    kinds = [_kind(row, metric_columns, classes) for row in rows.to_dict("records")]
    marked = rows.assign(**{count: [kind == count for kind in kinds] for count in COUNTS})
    groups = marked.groupby(["dataset", "loss"], as_index=False, sort=True)
    found = groups.agg(
        **{key: (key, "first") for key in ("name", "s", "m")},
        runs=("seed", "size"),
        **{count: (count, "sum") for count in COUNTS},
    )
    failed = found[found[COUNTS].sum(axis=1) > 0]
    return failed.sort_values(["dataset", "name", "m", "s", "loss"], key=natural, ignore_index=True)


def _kind(row: Mapping[object, object], metric_columns: Mapping[str, MetricColumn], classes: Mapping[str, int]) -> str:
    if row["status"] != "ok":
        return "diverged"
    dataset = str(row["dataset"])
    column = metric_columns.get(dataset)
    value, angle = _number(row.get(column.key)) if column else math.nan, _number(row.get("train/wc_intra"))
    by_chance = chance(column, row, classes[dataset]) if column else math.nan
    if value < by_chance + NEAR * (1.0 - by_chance):
        return "near_chance"
    return "unlearned" if angle >= UNRELATED else ""


def chance(column: MetricColumn, row: Mapping[object, object], classes: int) -> float:
    """The value of guessing: one class of many, or the more frequent answer for pairs; NaN for other metrics."""
    if column.metric.main == "closed" and classes:
        return 1.0 / classes
    if column.metric.main == "open":
        same, different = _number(row.get("test/n_same")), _number(row.get("test/n_different"))
        return max(same, different) / (same + different) if same + different > 0 else math.nan
    return math.nan


def _number(value: object) -> float:
    return float(str(value)) if value is not None and not pd.isna(value) else math.nan  # type: ignore[call-overload]
