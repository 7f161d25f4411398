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
from benchmark.plots._scale_margin import MOST_LINES
from benchmark.plots._style import INK, PALE, Look, blank, label_at_right, short, short_names, styled, wrapped
from benchmark.results import settings_of
from benchmark.statistics import summarise
from benchmark.text import listed, number

TITLE = "Sensitivity to the training"
NAMES = {"dim": "embedding size", "lr": "learning rate", "batch": "batch size", "weight_decay": "weight decay"}
SIDE_BY_SIDE = 0.06  # of the gap between two settings: intervals of two losses do not lie over each other
WIDEST_TITLE = 50  # characters


@plot(TITLE, "comparison", place=5)
def draw(context: Context) -> Drawn:
    plain = [run.cell["labels"]["dataset"] for run in context.collected.runs]
    varied = varied_settings(context.collected.table, plain)
    if not len(varied):
        raise NothingToDrawError("no dataset has runs that differ in one thing about the training alone")
    for (data, key), settings in varied.groupby(["data", "key"], sort=False):
        name = file_name("sensitivity", str(key), str(data))
        title = f"{TITLE}: {NAMES.get(str(key), str(key))}, {data}"
        means, leads = means_and_leads(context, settings)
        if not len(means):
            yield Skipped(name, title, "no run has a value", "comparison")
            continue
        words, drawn = caption(means), figure(means, leads, context.looks)
        yield Picture(name, title, words, drawn, "comparison", finding(means, leads))


def means_and_leads(context: Context, settings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The main metric of each loss by setting, and its differences from the baseline, the same as in the table."""
    main = [context.findings.main_columns.get(str(dataset)) for dataset in settings["dataset"]]
    known = [column.key for column in main if column is not None]
    if not known:
        return settings.iloc[:0], settings.iloc[:0]
    means = summarise(context.table, known[:1], context.collected.jackknife).merge(settings, on="dataset")
    if context.baseline not in context.losses or len(context.losses) < 2:
        return means, means.iloc[:0]
    differences = context.findings.differences
    return means, differences[differences["metric"] == known[0]].merge(settings, on="dataset")


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
    in_front = shown_in_colour(means, looks)
    drawn = blank(height=3.0)
    panels = drawn.subplots(1, 2 if len(leads) else 1, squeeze=False)[0]
    places = _places(means)
    _lines(panels[0], means, "mean", places, {loss: looks[loss] for loss in in_front})
    unit = f", {column.unit}" if column.unit else ""
    panels[0].set_title(wrapped(f"{name_of(column)}{unit}", WIDEST_TITLE))
    if len(leads):
        panels[1].axhline(0.0, color=INK, linewidth=0.8)
        baseline = short(str(leads["baseline"].iloc[0]))
        _lines(panels[1], leads, "difference", places, {loss: looks[loss] for loss in in_front})
        panels[1].set_title(wrapped(f"difference from {baseline}{in_units(column)}", WIDEST_TITLE))
    key = str(means["key"].iloc[0])
    drawn.supxlabel(NAMES.get(key, key.replace("_", " ")))
    return drawn


def shown_in_colour(means: pd.DataFrame, looks: Mapping[str, Look]) -> list[str]:
    """All losses if they are few; else the baseline, which is last in `looks`, and the best ones."""
    present = [loss for loss in looks if loss in set(means["loss"])]
    if len(present) <= MOST_LINES:
        return present
    lower = metrics.column(str(means["metric"].iloc[0])).lower_is_better
    ranked = means.groupby("loss")["mean"].mean().astype(float).sort_values(ascending=lower).index
    kept = list(dict.fromkeys([present[-1], *map(str, ranked)]))[:MOST_LINES]
    return [loss for loss in present if loss in kept]


def _places(rows: pd.DataFrame) -> dict[str, float]:
    """Where each setting stands, from left to right: numbers by their logarithm where all are positive, names one
    after the other."""
    values = sorted(dict.fromkeys(rows["value"]), key=_order)
    numbers = [number_in(value) for value in values]
    if all(number > 0 for number in numbers):
        return {value: float(np.log2(number)) for value, number in zip(values, numbers, strict=True)}
    return {value: float(place) for place, value in enumerate(values)}


def _lines(axes: Axes, rows: pd.DataFrame, value: str, places: Mapping[str, float], looks: Mapping[str, Look]) -> None:
    """The column `value` by the setting: losses that have a look with their intervals and names, the others grey."""
    factor = metrics.column(str(rows["metric"].iloc[0])).factor
    gap = min(np.diff(sorted(places.values())), default=1.0)
    ordered = not any(np.isnan(number_in(value)) for value in places)
    at = np.array(list(places.values()))
    present = set(rows["loss"])
    for loss in sorted(present - set(looks)):
        axes.plot(at, factor * _numbers(rows, loss, places)[value], color=PALE, marker="" if ordered else ".",
                  linestyle="-" if ordered else "none", linewidth=1.0, zorder=1)  # fmt: skip
    names = short_names([loss for loss in looks if loss in present], 20)
    ends = {}
    for place, (loss, name) in enumerate(names.items()):
        look, own = looks[loss], factor * _numbers(rows, loss, places)
        beside = at + SIDE_BY_SIDE * gap * (place - (len(names) - 1) / 2)
        line = {**look.line, "linestyle": look.dashes if ordered else "none"}
        axes.plot(beside, own[value], label=name, zorder=3, **line)
        axes.vlines(beside, own["low"], own["high"], color=look.colour, linewidth=1.0, alpha=0.7, zorder=2)
        known = np.flatnonzero(own[value].notna())
        if len(known):
            ends[name] = float(beside[known[-1]]), float(own[value].iloc[known[-1]])
    axes.set_xticks(list(places.values()), list(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.08)
    label_at_right(axes, ends, 0.065, {name: looks[loss].colour for loss, name in names.items()})


def _numbers(rows: pd.DataFrame, loss: str, places: Mapping[str, float]) -> pd.DataFrame:
    """One loss's values by setting, from left to right; a setting without one is NaN."""
    own = rows[rows["loss"] == loss].set_index("value").reindex(list(places))
    columns = [name for name in ("mean", "difference", "low", "high") if name in own]
    return own[columns].astype("Float64").astype(float)


def caption(means: pd.DataFrame) -> str:
    """How to read the picture."""
    column, key = metrics.column(str(means["metric"].iloc[0])), str(means["key"].iloc[0])
    return (
        f"{column.heading} by {NAMES.get(key, key.replace('_', ' '))}, mean over the seeds. "
        f"{intervals_in_words(means['carries'])}"
    )


def finding(means: pd.DataFrame, leads: pd.DataFrame) -> str:
    """Each loss at its two ends, and where it differs from the baseline."""
    column = metrics.column(str(means["metric"].iloc[0]))
    found = []
    for loss, rows in means[means["mean"].notna()].groupby("loss", sort=False):
        ends = [f"{number(column.factor * mean, 1)} at {value}" for value, mean in _in_order(rows, "mean")]
        span = ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"
        own = leads[(leads["loss"] == loss) & leads["significant"].fillna(False)] if len(leads) else leads
        sure = [value for value, _ in _in_order(own, "difference")]
        found.append(
            f"{loss}: {span}{f', significantly different from the baseline at {listed(sure)}' if sure else ''}."
        )
    return " ".join(found)


def _in_order(rows: pd.DataFrame, column: str) -> list[tuple[str, float]]:
    """Settings with their values, small settings first."""
    places = _places(rows)
    ordered = sorted(zip(rows["value"], rows[column], strict=True), key=lambda pair: places[pair[0]])
    return [(str(value), one) for value, one in ordered]
