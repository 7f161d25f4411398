"""Heat map: loss × dataset, the means themselves, coloured by how far each is behind the dataset's best."""

import numpy as np
import pandas as pd
import seaborn
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots._context import Context
from benchmark.plots._picture import Picture, Skipped
from benchmark.plots._registry import Drawn, plot
from benchmark.plots._style import SMALL, WIDTH, blank, short_names, styled, wrapped
from benchmark.plots._words import in_units, name_of
from benchmark.statistics import ALL_DATASETS
from benchmark.text import listed, number

TITLE = "Losses by datasets"
DARK = 0.55  # of the colour scale, beyond which text is white


@plot(TITLE, "comparison", place=2)
def draw(material: Context) -> Drawn:
    standing = material.standing
    if len(material.losses) < 2:
        yield Skipped("heatmap", TITLE, "one loss: nothing to compare", "comparison")
        return
    if standing["mean"].isna().all():
        yield Skipped("heatmap", TITLE, f"no run has a {name_of(material.column)}", "comparison")
        return
    drawn = figure(standing, material.column)
    yield Picture("heatmap", TITLE, caption(standing, material.column), drawn, "comparison")


@styled
def figure(standing: pd.DataFrame, column: MetricColumn) -> Figure:
    """From the rows of `statistics.tied_with_best`: means as text, the best and what is tied with it marked."""
    means = _means(standing, column.lower_is_better) * column.factor
    best = means.min() if column.lower_is_better else means.max()
    behind = (means - best).abs()
    worst = float(np.nanmax(behind.to_numpy(), initial=0.0)) or 1.0
    drawn = blank(min(WIDTH, 2.6 + 1.3 * means.shape[1]), max(0.24 * len(means) + 1.3, 2.1))
    axes = drawn.subplots()
    seaborn.heatmap(
        behind, ax=axes, cmap="Blues", vmin=0.0, vmax=worst, linewidths=0.8,
        cbar_kws={"label": wrapped(f"behind the best, {in_units(column)}".rstrip(", "), 18), "aspect": 30},
    )  # fmt: skip
    marks = standing.set_index(["loss", "dataset"])
    for row, loss in enumerate(means.index):
        for place, dataset in enumerate(means.columns):
            value = float(means.loc[loss, dataset])
            mark = marks.loc[(loss, dataset)] if (loss, dataset) in marks.index else None
            text, weight = _cell(value, column.decimals, mark)
            dark = not np.isnan(value) and float(behind.loc[loss, dataset]) > DARK * worst
            axes.text(place + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, fontweight=weight,
                      color="white" if dark else "black")  # fmt: skip
    names, titles = short_names(means.index, 30), short_names(means.columns, 40)
    axes.set_yticks(np.arange(len(means)) + 0.5, [names[loss] for loss in means.index], rotation=0)
    headings = [wrapped(titles[dataset], 15, lines=4) for dataset in means.columns]
    axes.set_xticks(np.arange(means.shape[1]) + 0.5, headings, rotation=0)
    axes.tick_params(length=0, labelsize=SMALL)
    axes.set(xlabel="", ylabel="")
    drawn.suptitle(wrapped(f"{column.title}   ▲ best   = tied with it", int(12 * drawn.get_figwidth())), fontsize=9)
    return drawn


def _means(standing: pd.DataFrame, lower_is_better: bool) -> pd.DataFrame:
    """Losses × datasets, the best loss first; one dataset has no column "all datasets" beside it."""
    means = standing.pivot_table(index="loss", columns="dataset", values="mean", sort=False, dropna=False)
    means = means.astype("Float64").astype(float).dropna(axis="columns", how="all")
    if means.shape[1] == 2 and ALL_DATASETS in means:
        means = means.drop(columns=ALL_DATASETS)
    order = means.iloc[:, -1].fillna(means.mean(axis=1)).sort_values(ascending=lower_is_better, kind="stable")
    return means.loc[order.index]


def _cell(value: float, decimals: int, mark: pd.Series | None) -> tuple[str, str]:
    if np.isnan(value) or mark is None:
        return "–", "normal"
    if bool(mark["best"]):
        return f"{number(value, decimals)} ▲", "bold"
    tied = not pd.isna(mark["tied_with_best"]) and bool(mark["tied_with_best"])
    return (f"{number(value, decimals)} =", "normal") if tied else (number(value, decimals), "normal")


def caption(standing: pd.DataFrame, column: MetricColumn) -> str:
    """Who is best where, and who is tied with it."""
    told = [f"Mean {name_of(column)} of every loss on every dataset, coloured by how far it is behind the best."]
    several = standing["dataset"].nunique() > 2
    for dataset, rows in standing.groupby("dataset", sort=False):
        if dataset == ALL_DATASETS and not several:
            continue
        best = rows[rows["best"]]
        if not len(best):
            told.append(f"{dataset}: no run has a value.")
            continue
        first = best.iloc[0]
        tied = [str(loss) for loss in rows.loc[rows["tied_with_best"].fillna(False) & ~rows["best"], "loss"]]
        with_it = f"; tied with it: {listed(tied)}" if tied else ""
        untested = int(rows["tied_with_best"].isna().sum())
        note = f"; {untested} could not be tested" if untested else ""
        told.append(f"{dataset}: {first['loss']} is best with {column.shown(float(first['mean']))}{with_it}{note}.")
    return " ".join(told)
