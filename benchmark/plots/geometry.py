"""Scatter: how tightly a loss holds classes to their weights against how far it sets them apart."""

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import EACH_APART, Context, Drawn, NothingToDrawError, Picture, name_of, plot
from benchmark.plots._style import INK, SMALL, dataset_panels, label_at_right, short_names, styled
from benchmark.text import listed, number

TITLE = "Compactness and separation"
TIGHT, APART = "train/wc_intra", "train/c_inter"
HEIGHT = 2.9  # inches of a panel
LINE = 0.14  # of a label


@plot(TITLE, "geometry", place=2, most_losses=EACH_APART)
def draw(material: Context) -> Drawn:
    means = mean_geometry(material.table, material.metric)
    if not len(means):
        raise NothingToDrawError("no run has both WC-Intra and C-Inter")
    absent = [dataset for dataset in material.datasets if dataset not in set(means["dataset"])]
    note = f" Not drawn, since no run has these angles: {listed(absent)}." if absent else ""
    words = caption(means, material.column) + note
    yield Picture("geometry", TITLE, words, figure(means, material.column), "geometry")


def mean_geometry(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means over seeds of the two angles and the metric; losses without angles are left out."""
    columns = {TIGHT: "tight", APART: "apart", metric: "value"}
    kept = table[["loss", "dataset"]].copy()
    for name, short_name in columns.items():
        kept[short_name] = pd.to_numeric(table[name], errors="coerce") if name in table else np.nan
    means = kept.groupby(["dataset", "loss"], sort=False, as_index=False).mean()
    return means.dropna(subset=["tight", "apart"])


@styled
def figure(means: pd.DataFrame, column: MetricColumn) -> Figure:
    """One panel a dataset: WC-Intra to the right, C-Inter upwards, the metric as colour."""
    most = int(means.groupby("dataset").size().max())
    height = max(HEIGHT, LINE * most + 0.9)
    drawn, axes = dataset_panels(means, height, most_columns=2)
    for panel, rows in axes:
        values = rows["value"].to_numpy(dtype=float) * column.factor
        colours = ScalarMappable(_range(values), "cividis")
        known = ~np.isnan(values)
        faces = np.where(known[:, None], colours.to_rgba(np.where(known, values, 0.0)), (1.0, 1.0, 1.0, 1.0))
        panel.scatter(rows["tight"], rows["apart"], c=faces, s=34, edgecolors=INK, linewidths=0.6, zorder=3)
        panel.margins(0.1)
        names = short_names(rows["loss"], 20)
        points = {names[loss]: (x, y) for loss, x, y in zip(rows["loss"], rows["tight"], rows["apart"], strict=True)}
        label_at_right(panel, points, LINE / (height - 0.9))
        panel.set(xlabel="WC-Intra, degrees (training)", ylabel="C-Inter, degrees (training)")
        if known.any():
            bar = drawn.colorbar(colours, ax=panel, location="bottom", aspect=35, pad=0.02)
            bar.set_label(column.title, fontsize=SMALL)
            bar.ax.tick_params(labelsize=SMALL)
    return drawn


def _range(values: np.ndarray) -> Normalize:
    known = values[~np.isnan(values)]
    if not len(known):
        return Normalize(0.0, 1.0)
    low, high = float(known.min()), float(known.max())
    return Normalize(low, high) if high > low else Normalize(low - 0.5, high + 0.5)


def caption(means: pd.DataFrame, column: MetricColumn) -> str:
    told = [
        "Every dot is a loss, the mean over its seeds: to the left, class centres lie closer to their weights "
        f"(WC-Intra), upwards they lie further from each other (C-Inter). The colour is {name_of(column)}."
    ]
    for dataset, rows in means.groupby("dataset", sort=False):
        tight, apart = rows.sort_values("tight").iloc[0], rows.sort_values("apart").iloc[-1]
        told.append(
            f"{dataset}: {tight['loss']} is the tightest with {number(float(tight['tight']), 1)}°, "
            f"{apart['loss']} the widest apart with {number(float(apart['apart']), 1)}°"
        )
        told[-1] += f"; {_relation(rows)}." if rows["value"].notna().sum() > 2 else "."
    return " ".join(told)


def _relation(rows: pd.DataFrame) -> str:
    ranks = rows[["tight", "apart", "value"]].rank()
    tight, apart = (float(ranks[name].corr(ranks["value"])) for name in ("tight", "apart"))
    return f"rank correlation with the metric {_or_none(tight)} for WC-Intra and {_or_none(apart)} for C-Inter"


def _or_none(value: float) -> str:
    return "undefined" if np.isnan(value) else number(value, 2, signed=True)
