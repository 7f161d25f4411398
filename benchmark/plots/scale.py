"""Scale: a metric against s, normface beside the losses with a margin, each at the margin that validation chose."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots._context import Context
from benchmark.plots._picture import Picture, Skipped
from benchmark.plots._registry import Drawn, plot
from benchmark.plots._scale_margin import means, rows_with_settings, scale_axis, why_no_map
from benchmark.plots._style import Look, looks, panels, short_names, styled, wrapped
from benchmark.plots._words import name_of
from benchmark.scale_margin import REFERENCE, scales_of
from benchmark.text import listed, number

TITLE = "Scale"
NUDGE = 0.012  # of the axis, by which losses stand apart


@plot(TITLE, "scale", place=1)
def draw(material: Context) -> Drawn:
    rows = rows_with_settings(material)
    if reason := why_no_map(material, rows):
        yield Skipped("scale", TITLE, reason, "scale")
        return
    drawn = best_margins(scales_of(rows), material)
    if not len(drawn):
        yield Skipped("scale", TITLE, f"no setting at several scales has a {name_of(material.column)}", "scale")
        return
    yield Picture("scale", TITLE, caption(drawn, material.column), figure(drawn, material.column), "scale")


def best_margins(rows: pd.DataFrame, material: Context) -> pd.DataFrame:
    """Of each loss, dataset and scale the margin whose validation mean is best; without validation, the smallest."""
    key, sign = material.column.on("val").key, -1.0 if material.column.lower_is_better else 1.0
    found = means(rows, material).dropna(subset=["mean"])
    on_validation = rows.groupby(["dataset", "loss"])[key].mean() if key in rows else pd.Series(dtype=float)
    places = pd.MultiIndex.from_frame(found[["dataset", "loss"]])
    found = found.assign(value=sign * on_validation.reindex(places).to_numpy(dtype=float))
    ordered = found.sort_values(["value", "m"], ascending=[False, True], na_position="last", kind="stable")
    return ordered.drop_duplicates(["dataset", "title", "s"]).sort_values(["dataset", "title", "s"], ignore_index=True)


@styled
def figure(drawn: pd.DataFrame, column: MetricColumn) -> Figure:
    """A panel a dataset; the vertical lines are the 95 % intervals."""
    datasets = list(dict.fromkeys(drawn["dataset"]))
    names = list(dict.fromkeys(drawn["title"]))
    of_names = looks(names, REFERENCE)
    result, axes = panels(len(datasets), 2.3, most_columns=3)
    for panel, dataset in zip(axes, datasets, strict=True):
        rows = drawn[drawn["dataset"] == dataset]
        for place, name in enumerate(names):
            _line(panel, rows[rows["title"] == name], of_names[name], place - (len(names) - 1) / 2)
        scale_axis(panel, sorted(rows["s"].round(9).unique()))
        panel.set_title(wrapped(dataset, 32))
    result.supxlabel("scale s")
    result.supylabel(column.title)
    labels = short_names(names)
    handles = [axes[0].plot([], [], **_style(of_names[name]), label=labels[name])[0] for name in names]
    result.legend(handles=handles, loc="outside upper center", ncols=min(len(names), 5))
    return result


def _line(axes: Axes, rows: pd.DataFrame, look: Look, step: float) -> None:
    if not len(rows):
        return
    s = rows["s"].to_numpy(dtype=float) * 2.0 ** (4 * NUDGE * step)
    values, low, high = (rows[key].to_numpy(dtype=float) for key in ("mean", "low", "high"))
    axes.plot(s, values, **_style(look))
    known = np.isfinite(low)
    axes.vlines(s[known], low[known], high[known], color=look.colour, linewidth=0.8)


def _style(look: Look) -> dict[str, Any]:
    return {"color": look.colour, "linestyle": look.dashes, "marker": look.marker, "markersize": 4}


def caption(drawn: pd.DataFrame, column: MetricColumn) -> str:
    """Where each loss is best."""
    told = [
        f"{column.heading} against the scale s, mean over the seeds with the 95 % interval; a loss with several "
        "margins is shown, at each scale, with the margin that is best on validation data."
    ]
    for dataset, rows in drawn.groupby("dataset", sort=False):
        best = rows.loc[rows.groupby("title")["mean"].agg("idxmin" if column.lower_is_better else "idxmax")]
        parts = zip(best["title"], best["mean"], best["s"], strict=True)
        shown = [f"{name} {number(float(mean), column.decimals)} at s={s:.3g}" for name, mean, s in parts]
        told.append(f"{dataset}: best are {listed(shown)}.")
    return " ".join(told)
