"""Heat map: loss × dataset, the means themselves, coloured by how far each is behind the dataset's best."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, by_dataset, in_units, name_of, plot
from benchmark.plots._style import SMALL, WIDTH, blank, short_names, styled, wrapped
from benchmark.statistics import ALL_DATASETS
from benchmark.text import number

TITLE = "Losses by datasets"
DARK = 0.55  # of the colour scale, beyond which text is white


@plot(TITLE, "comparison", place=2)
def draw(context: Context) -> Drawn:
    standing = context.standing
    if len(context.losses) < 2:
        raise NothingToDrawError("there is one loss only, so there is nothing to compare")
    if standing["mean"].isna().all():
        raise NothingToDrawError(f"no run has a {name_of(context.column)}")
    drawn, column = figure(standing, context.column), context.column
    yield Picture("heatmap", TITLE, caption(column), drawn, "comparison", finding(standing, column))


@styled
def figure(standing: pd.DataFrame, column: MetricColumn) -> Figure:
    """Means as text, with marks for the best and those tied with it; the rows are those of `Context.standing`."""
    means = _means(standing, column.lower_is_better) * column.factor
    best = means.min() if column.lower_is_better else means.max()
    behind = (means - best).abs()
    worst = float(np.nanmax(behind.to_numpy(), initial=0.0)) or 1.0
    drawn = blank(min(WIDTH, 2.6 + 1.3 * means.shape[1]), max(0.24 * len(means) + 1.3, 2.1))
    axes = drawn.subplots()
    texts = means.map(lambda value: "–" if np.isnan(value) else number(value, column.decimals))
    for loss, dataset, is_best, tied in standing[["loss", "dataset", "best", "tied_with_best"]].itertuples(index=False):
        if dataset in texts and texts.loc[loss, dataset] != "–":
            texts.loc[loss, dataset] += " ▲" if is_best else " =" if not pd.isna(tied) and tied else ""
    bar = {"label": wrapped(f"behind the best{in_units(column)}", 18), "aspect": 30}
    heat_map(axes, behind, worst, texts, cbar_kws=bar)
    for cell in axes.texts:
        cell.set(fontsize=8, fontweight="bold" if cell.get_text().endswith("▲") else "normal")
    axes.set_yticklabels(short_names(means.index, 30).values())
    axes.set_xticklabels([wrapped(title, 15, lines=4) for title in short_names(means.columns, 40).values()])
    axes.set(xlabel="", ylabel="")
    drawn.suptitle(wrapped(f"{column.title}   ▲ best   = tied with it", int(12 * drawn.get_figwidth())), fontsize=9)
    return drawn


def heat_map(axes: Axes, behind: pd.DataFrame, worst: float, texts: pd.DataFrame, **bar: Any) -> None:
    """Cells coloured by how far they are behind the best, with `texts` in them."""
    seaborn.heatmap(behind, ax=axes, cmap="Blues", vmin=0.0, vmax=worst, linewidths=0.8, **bar)
    for (row, place), distance in np.ndenumerate(behind.to_numpy(dtype=float)):
        text, colour = str(texts.iloc[row, place]), "white" if distance > DARK * worst else "black"
        axes.text(place + 0.5, row + 0.5, text, ha="center", va="center", fontsize=SMALL, color=colour)
    axes.set_yticks(np.arange(behind.shape[0]) + 0.5, behind.index, rotation=0)
    axes.set_xticks(np.arange(behind.shape[1]) + 0.5, behind.columns, rotation=0)
    axes.tick_params(length=0, labelsize=SMALL)


def _means(standing: pd.DataFrame, lower_is_better: bool) -> pd.DataFrame:
    """Losses × datasets, the best loss first; one dataset has no column "all datasets" beside it."""
    means = standing.pivot_table(index="loss", columns="dataset", values="mean", sort=False, dropna=False)
    means = means.astype("Float64").astype(float).dropna(axis="columns", how="all")
    if means.shape[1] == 2 and ALL_DATASETS in means:
        means = means.drop(columns=ALL_DATASETS)
    order = means.iloc[:, -1].fillna(means.mean(axis=1)).sort_values(ascending=lower_is_better, kind="stable")
    return means.loc[order.index]


def caption(column: MetricColumn) -> str:
    """How to read the picture."""
    return (
        f"Mean {name_of(column)} of every loss on every dataset; the stronger the blue, the farther behind the best "
        "(▲). Losses marked = are tied with it: none is significantly better than they are."
    )


def finding(standing: pd.DataFrame, column: MetricColumn) -> str:
    """On each dataset, who is best and how many are tied with it."""
    found = {}
    several = standing["dataset"].nunique() > 2
    for dataset, rows in standing[standing["mean"].notna()].groupby("dataset", sort=False):
        if dataset == ALL_DATASETS and not several:
            continue
        best = rows[rows["best"]].iloc[0]
        tied = int((rows["tied_with_best"].fillna(False) & ~rows["best"]).sum())
        others = f", tied with {tied} of the other {len(rows) - 1}" if tied else ""
        untested = int(rows["tied_with_best"].isna().sum())
        note = f"; {untested} could not be tested" if untested else ""
        value = column.shown(float(best["mean"]))
        found[str(dataset)] = f"{best['loss']} has the best {name_of(column)} ({value}){others}{note}"
    return by_dataset(found)
