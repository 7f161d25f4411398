"""What a margin adds at the same scale: loss − normface against s, with intervals."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots._context import Context
from benchmark.plots._picture import Picture, Skipped, file_name
from benchmark.plots._registry import Drawn, plot
from benchmark.plots._scale_margin import metric_columns, rows_with_settings, scale_axis, why_no_map
from benchmark.plots._style import COLOURS, DASHES, INK, MARKERS, SMALL, panels, short_names, styled, wrapped
from benchmark.plots._words import in_units, intervals_in_words, name_of
from benchmark.scale_margin import REFERENCE, margin_effects, margin_effects_over_datasets, why_no_margin_effects
from benchmark.statistics import ALL_DATASETS
from benchmark.text import counted, number

TITLE = "What the margin adds at the same scale"
NUDGE = 0.05  # of a doubling, by which lines stand apart
OTHERS = "losses with one margin"


@plot(TITLE, "scale", place=2)
def draw(material: Context) -> Drawn:
    rows = rows_with_settings(material)
    if reason := why_no_map(material, rows) or why_no_margin_effects(rows):
        yield Skipped("margin_effect", TITLE, reason, "scale")
        return
    effects = _effects(material, rows)
    effects = effects[effects["difference"].notna()]
    if not len(effects):
        yield Skipped("margin_effect", TITLE, f"no seed has a {name_of(material.column)} of both sides", "scale")
        return
    for title, part in groups(effects).items():
        words = f"{TITLE}: {title}"
        drawn = figure(part, material.column)
        yield Picture(file_name("margin-effect", title), words, caption(part, material.column), drawn, "scale")


def _effects(material: Context, rows: pd.DataFrame) -> pd.DataFrame:
    known, jackknife = metric_columns(material), material.collected.jackknife
    effects = margin_effects(rows, known, jackknife)
    if len(known) < 2:
        return effects
    overall = margin_effects_over_datasets(rows, sorted(known), material.metric, jackknife)
    return pd.concat([effects, overall], ignore_index=True) if len(overall) else effects


def groups(effects: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A picture for each loss with several margins, its lines by m; one for all the others, theirs by loss."""
    margins = effects.groupby("variant")["m"].nunique()
    several = [str(variant) for variant in margins.index if margins[variant] > 1]
    found = {}
    for variant in several:
        part = effects[effects["variant"] == variant]
        found[variant] = part.assign(line=[f"m={m:g}" for m in part["m"]])
    rest = effects[~effects["variant"].isin(several)]
    return {**found, **({OTHERS: rest.assign(line=rest["variant"])} if len(rest) else {})}


@styled
def figure(effects: pd.DataFrame, column: MetricColumn) -> Figure:
    """A panel a dataset; above 0 the margin helps."""
    datasets = list(dict.fromkeys(effects["dataset"]))
    lines = list(dict.fromkeys(effects["line"]))
    drawn, axes = panels(len(datasets), 2.2, most_columns=3)
    for panel, dataset in zip(axes, datasets, strict=True):
        rows = effects[effects["dataset"] == dataset]
        panel.axhline(0.0, color=INK, linewidth=0.8)
        for place, line in enumerate(lines):
            _line(panel, rows[rows["line"] == line].sort_values("s"), place, len(lines), column.factor)
        scale_axis(panel, sorted(rows["s"].round(9).unique()))
        panel.set_title(wrapped(dataset, 32))
    units = f", {in_units(column)}" if column.unit else ""
    drawn.supxlabel("scale s")
    drawn.supylabel(f"{name_of(column)}:\nloss − {REFERENCE}{units}", fontsize=SMALL)
    names = short_names(lines)
    handles = [axes[0].plot([], [], label=names[line], **_look(place))[0] for place, line in enumerate(lines)]
    drawn.legend(handles=handles, loc="outside upper center", ncols=min(len(lines), 5))
    return drawn


def _line(axes: Axes, rows: pd.DataFrame, place: int, count: int, factor: float) -> None:
    if not len(rows):
        return
    numbers = rows[["s", "difference", "low", "high"]].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    s = numbers[:, 0] * 2.0 ** (NUDGE * (place - (count - 1) / 2))
    axes.plot(s, factor * numbers[:, 1], **_look(place))
    known = np.isfinite(numbers[:, 2])
    ends = factor * numbers[known, 2:]
    axes.vlines(s[known], ends[:, 0], ends[:, 1], color=COLOURS[place % len(COLOURS)], linewidth=0.9)


def _look(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[place % len(DASHES)],
        "marker": MARKERS[place % len(MARKERS)],
        "markersize": 4,
    }


def caption(effects: pd.DataFrame, column: MetricColumn) -> str:
    """How often the margin helps, and where most."""
    carries = intervals_in_words(effects["carries"])
    units = f" in {in_units(column)}" if column.unit else ""
    side = "Below" if column.lower_is_better else "Above"
    told = [
        f"{column.heading} minus that of {REFERENCE} at the same scale{units}, paired ({carries}). {side} 0 the margin "
        "helps."
    ]
    for dataset, rows in effects.groupby("dataset", sort=False):
        where = "All datasets together" if dataset == ALL_DATASETS else str(dataset)
        told.append(f"{where}: {_told(rows, column)}.")
    return " ".join(told)


def _told(rows: pd.DataFrame, column: MetricColumn) -> str:
    better = (rows["high"] < 0.0) if column.lower_is_better else (rows["low"] > 0.0)
    worse = (rows["low"] > 0.0) if column.lower_is_better else (rows["high"] < 0.0)
    counts = [int(part.fillna(False).sum()) for part in (better, worse)]
    ends = rows.loc[[rows["difference"].astype(float).idxmin(), rows["difference"].astype(float).idxmax()]]
    parts = zip(ends["line"], ends["s"], ends["difference"], strict=True)
    shown = [
        f"{number(column.factor * float(difference), column.decimals, signed=True)} ({line}, s={s:.3g})"
        for line, s, difference in parts
    ]
    span = shown[0] if len(rows) == 1 else " to ".join(shown)
    return (
        f"from {span}; of {counted(len(rows), 'setting')} the interval lies wholly on the better side of 0 for "
        f"{counts[0]}, on the worse for {counts[1]}"
    )
