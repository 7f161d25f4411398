"""What the pictures of scale and margin ask of an experiment."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmark.plots import Context, NothingToDrawError, name_of
from benchmark.plots._style import INK, PALE, dataset_panels, looks, short_names
from benchmark.scale_margin import classes_of, training_sizes, why_no_scales, with_settings
from benchmark.statistics import summarise


def rows_with_settings(material: Context) -> pd.DataFrame:
    """The tidy frame with s, m and variant; NothingToDrawError says why there is nothing to draw over s."""
    rows = with_settings(material.table, classes_of(training_sizes(material.collected)))
    no_value = f"no run has a {name_of(material.column)}" if material.table[material.metric].isna().all() else ""
    if reason := no_value or why_no_scales(rows):
        raise NothingToDrawError(reason)
    return rows


def effects_of(
    material: Context,
    rows: pd.DataFrame,
    on_datasets: Callable[..., pd.DataFrame],
    over_datasets: Callable[..., pd.DataFrame],
    both: str,
) -> pd.DataFrame:
    """Effects on every dataset on which some run has the metric and, of several, over all of them."""
    with_it = material.table.groupby("dataset")[material.metric].count()
    known = {dataset: material.column for dataset in material.datasets if with_it[dataset] > 0}
    parts = [on_datasets(rows, known, material.collected.jackknife)]
    if len(known) > 1:
        parts.append(over_datasets(rows, sorted(known), material.metric, material.collected.jackknife))
    found = pd.concat([parts[0], *(part for part in parts[1:] if len(part))], ignore_index=True)
    if found["difference"].isna().all():
        raise NothingToDrawError(f"no seed has a {name_of(material.column)} of both {both}")
    return found


def means(rows: pd.DataFrame, material: Context) -> pd.DataFrame:
    """One line a setting: dataset, loss, name, variant, s, m, and mean, low and high in the metric's units."""
    kept = ["dataset", "loss", "name", "title", "variant", "tuned", "s", "m"]
    settings = rows.drop_duplicates(["dataset", "loss"])[kept]
    found = summarise(rows, [material.metric], material.collected.jackknife).merge(settings, on=["dataset", "loss"])
    for part in ("mean", "low", "high"):
        values = found[part].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        found[part] = material.column.factor * values
    return found


def figure_over_scales(
    frame: pd.DataFrame, line: str, value: str, reference: str, height: float, nudge: float, width: float
) -> Figure:
    """A panel a dataset: the column `value` against s with its interval, a line for each value of the column `line`.
    Lines stand `nudge` of a doubling apart; without a `reference` among them they are differences from 0."""
    names = short_names(dict.fromkeys(frame[line]))
    of_lines = looks(list(names), reference)
    drawn, panels = dataset_panels(frame, height, most_columns=3)
    for panel, rows in panels:
        if not reference:
            panel.axhline(0.0, color=INK, linewidth=0.8)
        for place, name in enumerate(names):
            own = rows[rows[line] == name].sort_values("s")[["s", value, "low", "high"]]
            if len(own):
                s, middle, low, high = own.astype("Float64").to_numpy(dtype=float, na_value=np.nan).T
                s = s * 2.0 ** (nudge * (place - (len(names) - 1) / 2))
                panel.plot(s, middle, **of_lines[name].line)
                known = np.isfinite(low)
                panel.vlines(s[known], low[known], high[known], color=of_lines[name].colour, linewidth=width)
        scales = sorted(rows["s"].round(9).unique())
        panel.set_xscale("log", base=2)
        panel.set_xticks(scales, [f"{scale:.3g}" for scale in scales])
        panel.minorticks_off()
        panel.grid(axis="x", color=PALE, linewidth=0.4)
    drawn.supxlabel("scale s")
    handles = [panels[0][0].plot([], [], label=names[name], **of_lines[name].line)[0] for name in names]
    drawn.legend(handles=handles, loc="outside upper center", ncols=min(len(names), 5))
    return drawn
