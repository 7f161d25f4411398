"""What the pictures of scale and margin ask of an experiment."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.plots import Context, Look, NothingToDrawError, name_of
from benchmark.plots._style import INK, PALE, dataset_panels, label_at_right, short_names
from benchmark.scale_margin import classes_of, training_sizes, why_no_scales, with_settings
from benchmark.statistics import summarise
from benchmark.text import listed

MOST_LINES = 5  # in colour; further ones are grey
NUDGE = 0.05  # of a doubling of s: intervals of two lines do not lie over each other
LINE = 0.15  # inches of a name
LONGEST = 1.0  # how far an interval may widen the axis, as a share of the lines' range


def rows_with_settings(context: Context) -> pd.DataFrame:
    """The tidy frame with s, m and variant; NothingToDrawError says why there is nothing to draw over s."""
    rows = with_settings(context.table, classes_of(training_sizes(context.collected)))
    no_value = f"no run has a {name_of(context.column)}" if context.table[context.metric].isna().all() else ""
    if reason := no_value or why_no_scales(rows):
        raise NothingToDrawError(reason)
    return rows


def effects_of(
    context: Context,
    rows: pd.DataFrame,
    on_datasets: Callable[..., pd.DataFrame],
    over_datasets: Callable[..., pd.DataFrame],
    both: str,
) -> pd.DataFrame:
    """Effects on every dataset on which some run has the metric and, of several, over all of them."""
    with_it = context.table.groupby("dataset")[context.metric].count()
    known = {dataset: context.column for dataset in context.datasets if with_it[dataset] > 0}
    parts = [on_datasets(rows, known, context.collected.jackknife)]
    if len(known) > 1:
        parts.append(over_datasets(rows, sorted(known), context.metric, context.collected.jackknife))
    found = pd.concat([parts[0], *(part for part in parts[1:] if len(part))], ignore_index=True)
    if found["difference"].isna().all():
        raise NothingToDrawError(f"no seed has a {name_of(context.column)} of both {both}")
    return found


def means(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """A row for each setting: dataset, loss, name, variant, s, m, and mean, low and high in the metric's units."""
    kept = ["dataset", "loss", "name", "title", "variant", "tuned", "s", "m"]
    settings = rows.drop_duplicates(["dataset", "loss"])[kept]
    found = summarise(rows, [context.metric], context.collected.jackknife).merge(settings, on=["dataset", "loss"])
    for part in ("mean", "low", "high"):
        values = found[part].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        found[part] = context.column.factor * values
    return found


def figure_over_scales(
    frame: pd.DataFrame, line: str, value: str, looks: Mapping[str, Look], in_front: Sequence[str], zero: bool = False
) -> Figure:
    """A panel for each dataset: the column `value` against s, a line for each value of the column `line`. Lines
    `in_front` are in colour, with intervals and names; the others are grey. `zero` draws a line at 0."""
    height = 2.5
    names = short_names(in_front, 20)
    drawn, panels = dataset_panels(frame, height, most_columns=2)
    for panel, rows in panels:
        if zero:
            panel.axhline(0.0, color=INK, linewidth=0.8)
        others = [own for name, own in rows.sort_values("s").groupby(line, sort=False) if name not in names]
        for own in others:
            panel.plot(own["s"], own[value].astype(float), color=PALE, linewidth=1.0, zorder=1)
        shown = {name: rows[rows[line] == name].sort_values("s") for name in names}
        ends = {}
        for place, (name, own) in enumerate((name, own) for name, own in shown.items() if len(own)):
            nudge = 2.0 ** (NUDGE * (place - (len(names) - 1) / 2))
            ends[names[name]] = _line(panel, own, value, looks[name], nudge)
        _limits(panel, rows[value], pd.concat(list(shown.values()))[["low", "high"]])
        scales = sorted(rows["s"].round(9).unique())
        panel.set_xscale("log", base=2)
        panel.set_xticks(scales, [f"{scale:.3g}" for scale in scales])
        panel.minorticks_off()
        label_at_right(panel, ends, LINE / (height - 0.6), {names[name]: looks[name].colour for name in names})
    drawn.supxlabel("scale s")
    return drawn


def _line(axes: Axes, own: pd.DataFrame, value: str, look: Look, nudge: float) -> tuple[float, float]:
    """Draws a line with its intervals. Returns its right end."""
    s, middle, low, high = own[["s", value, "low", "high"]].astype("Float64").to_numpy(dtype=float, na_value=np.nan).T
    axes.plot(s * nudge, middle, zorder=3, **look.line)
    known = np.isfinite(low)
    axes.vlines((s * nudge)[known], low[known], high[known], color=look.colour, linewidth=0.9, alpha=0.7, zorder=2)
    last = np.flatnonzero(np.isfinite(middle))[-1:]
    return (float(s[last[0]] * nudge), float(middle[last[0]])) if len(last) else (float(s[-1]), 0.0)


def _limits(axes: Axes, middle: pd.Series, intervals: pd.DataFrame) -> None:
    """All of the lines is shown. Intervals are too, unless one is so long that it would flatten the lines."""
    values = middle.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    ends = intervals.astype("Float64").to_numpy(dtype=float, na_value=np.nan).ravel()
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = LONGEST * max(high - low, 1e-3 * max(abs(high), 1e-9))
    near = ends[(ends > low - room) & (ends < high + room)]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.05 * (high - low) or 1.0
    axes.set_ylim(low - margin, high + margin)


def in_front_of(rows: pd.DataFrame, line: str, value: str, first: Sequence[str], lower_is_better: bool) -> list[str]:
    """The lines to show in colour, in the frame's order: all if they are few, else `first` and the best ones."""
    lines = [str(name) for name in dict.fromkeys(rows[line])]
    if len(lines) <= MOST_LINES:
        return lines
    values = rows.assign(value=rows[value].astype(float)).groupby([line, "dataset"])["value"]
    best = (values.min() if lower_is_better else values.max()).groupby(line).mean()
    ranked = [str(name) for name in best.sort_values(ascending=lower_is_better).index]
    kept = [name for name in dict.fromkeys([*first, *ranked]) if name in lines][:MOST_LINES]
    return [name for name in lines if name in kept]


def in_grey(rows: pd.DataFrame, line: str, in_front: Sequence[str]) -> str:
    """A sentence about the lines that have no name in the picture; empty if there are none."""
    others = [str(name) for name in dict.fromkeys(rows[line]) if name not in in_front]
    return f" In grey: {listed(others)}." if others else ""
