"""Sensitivity: each loss, and its lead over the baseline, as one thing about the training varies."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from benchmark import metrics
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, Skipped, file_name, plot
from benchmark.plots._context import in_units, intervals_in_words, name_of
from benchmark.plots._style import INK, Look, blank, short_names, styled, wrapped
from benchmark.results import settings_of
from benchmark.statistics import compare, summarise
from benchmark.text import listed, number

TITLE = "Sensitivity to the training"
NAMES = {"dim": "embedding size", "lr": "learning rate", "batch": "batch size", "weight_decay": "weight decay"}
SIDE_BY_SIDE = 0.06  # of the gap between two settings: intervals of two losses do not lie over each other
WIDEST_TITLE = 50  # characters


@plot(TITLE, "comparison", place=5)
def draw(material: Context) -> Drawn:
    plain = [run.cell["labels"]["dataset"] for run in material.collected.runs]
    varied = varied_settings(material.collected.table, plain)
    if not len(varied):
        raise NothingToDrawError("no dataset has runs that differ in one thing about the training alone")
    table, jackknife = material.table, material.collected.jackknife
    means = summarise(table, [material.metric], jackknife)
    against = material.baseline in material.losses and len(material.losses) > 1
    leads = compare(table, material.baseline, [material.metric], jackknife) if against else means.iloc[:0]
    for (data, key), settings in varied.groupby(["data", "key"], sort=False):
        name = file_name("sensitivity", str(key), str(data))
        title = f"{TITLE}: {NAMES.get(str(key), str(key))}, {data}"
        of_means, of_leads = (frame.merge(settings, on="dataset") for frame in (means, leads))
        if of_means["mean"].isna().all():
            yield Skipped(name, title, "no run has a value", "comparison")
            continue
        drawn = figure(of_means, of_leads, material.looks)
        yield Picture(name, title, caption(of_means, of_leads), drawn, "comparison")


def varied_settings(table: pd.DataFrame, plain: list[str]) -> pd.DataFrame:
    """For datasets of which a single part of the training varies: `dataset` (the table's label), `data` (the plain
    one), `key` and `value` of that part, in the order of the values."""
    rows = []
    settings = pd.DataFrame([settings_of(row) for row in table.to_dict("records")], index=table.index, dtype=object)
    for data, labels in table.groupby(pd.Series(plain, table.index, dtype=object), sort=False)["dataset"]:
        counts = settings.loc[labels.index].groupby(table.loc[labels.index, "loss"]).nunique().max()
        varying = [str(key) for key, count in counts.items() if count > 1]  # for one and the same loss
        if len(varying) == 1 and len(set(labels)) > 1:
            values = settings.loc[labels.index, varying[0]]
            found = {label: values[index] for index, label in labels.items()}
            rows += [(label, data, varying[0], value) for label, value in found.items()]
    frame = pd.DataFrame(rows, columns=["dataset", "data", "key", "value"])
    return frame.sort_values("value", key=lambda values: values.map(_order), kind="stable", ignore_index=True)


def _order(text: str) -> tuple[float, str]:
    """Numbers by their size, then names."""
    return (float("inf"), text) if np.isnan(number_in(text)) else (number_in(text), "")


def number_in(text: str) -> float:
    """The number that a text is, or NaN."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


@styled
def figure(means: pd.DataFrame, leads: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """The metric by the setting; beside it, where there is a baseline, every other loss's difference from it."""
    column = metrics.column(str(means["metric"].iloc[0]))
    drawn = blank(height=3.0)
    panels = drawn.subplots(1, 2 if len(leads) else 1, squeeze=False)[0]
    places = _places(means)
    _lines(panels[0], means, "mean", places, looks)
    unit = f", {column.unit}" if column.unit else ""
    panels[0].set_title(wrapped(f"{name_of(column)}{unit}", WIDEST_TITLE))
    if len(leads):
        _lines(panels[1], leads, "difference", places, looks)
        panels[1].axhline(0.0, color=INK, linewidth=0.8)
        names = short_names([loss for loss in looks if loss in set(means["loss"])])
        baseline = names[str(leads["baseline"].iloc[0])]
        panels[1].set_title(wrapped(f"difference from {baseline}{in_units(column)}", WIDEST_TITLE))
    key = str(means["key"].iloc[0])
    drawn.supxlabel(NAMES.get(key, key.replace("_", " ")))
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return drawn


def _places(rows: pd.DataFrame) -> dict[str, float]:
    """Where each setting stands, from left to right: numbers by their logarithm where all are positive, names one
    after the other."""
    values = sorted(dict.fromkeys(rows["value"]), key=_order)
    numbers = [number_in(value) for value in values]
    if all(number > 0 for number in numbers):
        return {value: float(np.log2(number)) for value, number in zip(values, numbers, strict=True)}
    return {value: float(place) for place, value in enumerate(values)}


def _lines(axes: Axes, rows: pd.DataFrame, value: str, places: Mapping[str, float], looks: Mapping[str, Look]) -> None:
    """The column `value` of every loss, with its interval."""
    names = short_names([loss for loss in looks if loss in set(rows["loss"])])
    factor = metrics.column(str(rows["metric"].iloc[0])).factor
    gap = min(np.diff(sorted(places.values())), default=1.0)
    ordered = not any(np.isnan(number_in(value)) for value in places)
    for number_of, (loss, name) in enumerate(names.items()):
        look = looks[loss]
        own = rows[rows["loss"] == loss].set_index("value").reindex(list(places))
        values = own[[value, "low", "high"]].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        middle, low, high = factor * values.T
        at = np.array(list(places.values())) + SIDE_BY_SIDE * gap * (number_of - (len(names) - 1) / 2)
        line = look.dashes if ordered else "none"
        axes.plot(at, middle, marker=look.marker, linestyle=line, color=look.colour, markersize=4.5, label=name)
        axes.vlines(at, low, high, color=look.colour, linewidth=1.1)
    axes.set_xticks(list(places.values()), list(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.08)


def caption(means: pd.DataFrame, leads: pd.DataFrame) -> str:
    """What the picture shows, in words."""
    column, key = metrics.column(str(means["metric"].iloc[0])), str(means["key"].iloc[0])
    carries = intervals_in_words(means["carries"])
    told = [f"{column.heading} by {NAMES.get(key, key.replace('_', ' '))}, mean over seeds ({carries})."]
    for loss, rows in means[means["mean"].notna()].groupby("loss", sort=False):
        said = [f"{number(column.factor * mean, 1)} at {value}" for value, mean in _in_order(rows, "mean")]
        told.append(f"{loss}: {listed(said)}.")
    for loss, rows in leads[leads["difference"].notna()].groupby("loss", sort=False):
        leading = _in_order(rows, "difference")
        said = [f"{number(column.factor * one, 1, signed=True)} at {value}" for value, one in leading]
        told.append(f"{loss} minus {rows['baseline'].iloc[0]}: {listed(said)}.")
        clear = [str(value) for value, sure in _in_order(rows, "significant") if not pd.isna(sure) and bool(sure)]
        told.append(f"Significant after Holm's correction at {listed(clear)}." if clear else "None is significant.")
    return " ".join(told)


def _in_order(rows: pd.DataFrame, column: str) -> list[tuple[str, float]]:
    """Settings with their values, small settings first."""
    places = _places(rows)
    ordered = sorted(zip(rows["value"], rows[column], strict=True), key=lambda pair: places[pair[0]])
    return [(str(value), one) for value, one in ordered]
