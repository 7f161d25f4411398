"""Scatter: how near class centres are to their weights, against how far each is from the nearest other centre."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.plots import EACH_APART, Context, Drawn, Look, NothingToDrawError, Picture, by_dataset, plot
from benchmark.plots._style import GREY, SMALL, dataset_panels, in_order, label_at_right, short_names, styled
from benchmark.scale_margin import classes_of, training_sizes
from benchmark.text import listed, number

TITLE = "Compactness and separation"
TIGHT, APART = "train/wc_intra", "train/c_inter_min"
HEIGHT = 2.9  # inches of a panel
LINE = 0.15  # of a label
LEAST_SPAN = 5.0  # degrees that a panel shows at least: smaller differences do not matter
RIGHT_ANGLE = 90.0


@plot(TITLE, "geometry", place=2, most_losses=EACH_APART)
def draw(context: Context) -> Drawn:
    means = mean_geometry(context.table, classes_of(training_sizes(context.collected)))
    if not len(means):
        raise NothingToDrawError("no run has both WC-Intra and C-Inter-min")
    absent = [dataset for dataset in context.datasets if dataset not in set(means["dataset"])]
    note = f" Not drawn, since no run has these angles: {listed(absent)}." if absent else ""
    drawn = figure(means, context.looks)
    yield Picture("geometry", TITLE, caption(means) + note, drawn, "geometry", finding(means))


def mean_geometry(table: pd.DataFrame, classes: Mapping[str, int]) -> pd.DataFrame:
    """Means of the two angles over the seeds, and the largest possible C-Inter-min; losses without angles are left
    out."""
    kept = table[["loss", "dataset", "dim"]].copy()
    for key, name in {TIGHT: "tight", APART: "apart"}.items():
        kept[name] = pd.to_numeric(table[key], errors="coerce") if key in table else np.nan
    means = kept.groupby(["dataset", "loss"], sort=False, as_index=False).mean().dropna(subset=["tight", "apart"])
    limits = [largest_angle(classes[name], int(dim)) for name, dim in zip(means["dataset"], means["dim"], strict=True)]
    return means.assign(limit=limits)


def largest_angle(classes: int, dim: int) -> float:
    """In degrees, the largest angle that so many directions can all have to their nearest one.

    Up to dim + 1 directions form a simplex; more of them cannot all be more than 90° apart (Rankin, 1955), and in two
    dimensions they share the circle.
    """
    if classes < 2:
        return 180.0
    if dim == 2:
        return 360.0 / classes
    return math.degrees(math.acos(-1.0 / (classes - 1))) if classes <= dim + 1 else RIGHT_ANGLE


@styled
def figure(means: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """A panel for each dataset: WC-Intra to the right, C-Inter-min upwards, what is impossible in grey."""
    height = max(HEIGHT, LINE * int(means.groupby("dataset").size().max()) + 0.9)
    drawn, axes = dataset_panels(means, height, most_columns=2)
    for panel, rows in axes:
        highest = _mark_what_is_possible(panel, rows)
        names = short_names(rows["loss"], 20)
        points = {names[loss]: (x, y) for loss, x, y in zip(rows["loss"], rows["tight"], rows["apart"], strict=True)}
        for loss, name in names.items():
            x, y = points[name]
            panel.plot(x, y, looks[loss].marker, color=looks[loss].colour, markersize=6, clip_on=False, zorder=3)
        colours = {name: looks[loss].colour for loss, name in names.items()}
        label_at_right(panel, points, LINE / (height - 0.9), colours, highest)
    drawn.supxlabel("WC-Intra on training images, degrees (left: centres lie on their weights)")
    drawn.supylabel("C-Inter-min on training images,\ndegrees (up: classes farther apart)")
    return drawn


def _mark_what_is_possible(axes: Axes, rows: pd.DataFrame) -> float:
    """Sets the limits and draws the largest possible angle, or names it where it is far above all losses. Returns up
    to which share of the panel's height names may stand."""
    limit, lowest, top = float(rows["limit"].iloc[0]), float(rows["apart"].min()), float(rows["apart"].max())
    span = max(top - lowest, LEAST_SPAN)
    is_near = limit - top < span
    missing = max(LEAST_SPAN - ((limit if is_near else top) - lowest), 0.0)
    end, lowest = (limit, lowest - missing) if is_near else (top + missing / 2, lowest - missing / 2)
    room = 0.08 * (end - lowest)
    axes.set(xlim=(0.0, 1.08 * max(float(rows["tight"].max()), 1.0)), ylim=(lowest - room, end + 3 * room))
    across, words = axes.get_yaxis_transform(), _limit_in_words(limit, is_near)
    axes.text(0.98, end + 2 * room, words, transform=across, ha="right", va="center", fontsize=SMALL)
    if is_near:
        axes.axhspan(limit, limit + 3 * room, color=GREY, alpha=0.15, linewidth=0)
        axes.axhline(limit, color=GREY, linestyle="--", linewidth=1.0)
    return (end - lowest + room) / (end - lowest + 4 * room)


def _limit_in_words(limit: float, is_near: bool) -> str:
    degrees = f"{number(limit, 1)}°"
    if limit == RIGHT_ANGLE:  # an upper bound, which very many classes do not reach
        return f"{'' if is_near else '↑ '}not all can exceed {degrees}"
    return f"impossible: above {degrees}" if is_near else f"↑ up to {degrees} is possible"


def caption(means: pd.DataFrame) -> str:
    limits = means.drop_duplicates("dataset").groupby("limit", sort=False)["dataset"]
    shown = [
        f"{number(float(str(limit)), 1)}° on {listed(sorted(map(str, names), key=in_order))}" for limit, names in limits
    ]
    return (
        "Each mark is a loss, the mean over its seeds. WC-Intra is the mean angle between a class centre and its own "
        "class weight, 0° at best. C-Inter-min is the mean angle between a class centre and the nearest other centre. "
        "With so many classes and dimensions, the centres cannot all be farther from their nearest one than "
        f"{listed(shown)}; where losses come near, a dashed line marks this limit. The upper left corner is the ideal."
    )


def finding(means: pd.DataFrame) -> str:
    """On each dataset, who is nearest to the ideal by either angle."""
    found = {}
    for dataset, rows in means.groupby("dataset"):
        tight, apart = rows.sort_values("tight").iloc[0], rows.sort_values("apart").iloc[-1]
        who = "" if tight["loss"] == apart["loss"] else f"{apart['loss']} "
        found[str(dataset)] = (
            f"{tight['loss']} has the smallest WC-Intra ({number(float(tight['tight']), 1)}°) and "
            f"{who}the largest C-Inter-min ({number(float(apart['apart']), 1)}°)"
        )
    return by_dataset(found)
