"""What the pictures of scale and margin ask of an experiment."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from benchmark.metrics import MetricColumn
from benchmark.plots._context import Context
from benchmark.plots._style import PALE
from benchmark.plots._words import name_of
from benchmark.scale_margin import classes_of, training_sizes, why_no_scales, with_settings
from benchmark.statistics import summarise


def rows_with_settings(material: Context) -> pd.DataFrame:
    """The tidy frame with s, m and variant."""
    return with_settings(material.table, classes_of(training_sizes(material.collected)))


def why_no_map(material: Context, rows: pd.DataFrame) -> str:
    """Why there is nothing to draw over s; nothing where there is."""
    if material.table[material.metric].isna().all():
        return f"no run has a {name_of(material.column)}"
    return why_no_scales(rows)


def metric_columns(material: Context) -> dict[str, MetricColumn]:
    """The metric, for every dataset on which some run has it."""
    with_it = material.table.groupby("dataset")[material.metric].count()
    return {dataset: material.column for dataset in material.datasets if with_it[dataset] > 0}


def means(rows: pd.DataFrame, material: Context) -> pd.DataFrame:
    """One line a setting: dataset, loss, name, variant, s, m, and mean, low and high in the metric's units."""
    kept = ["dataset", "loss", "name", "title", "variant", "tuned", "s", "m"]
    settings = rows.drop_duplicates(["dataset", "loss"])[kept]
    found = summarise(rows, [material.metric], material.collected.jackknife).merge(settings, on=["dataset", "loss"])
    for part in ("mean", "low", "high"):
        values = found[part].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        found[part] = material.column.factor * values
    return found


def scale_axis(axes: Axes, scales: list[float]) -> None:
    """Scales double from mark to mark; each that was run has one."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(scales, [f"{scale:.3g}" for scale in scales])
    axes.minorticks_off()
    axes.grid(axis="x", color=PALE, linewidth=0.4)
