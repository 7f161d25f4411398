"""Training curves: the loss by epoch."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from benchmark.plots._histories import histories
from benchmark.plots._material import Material
from benchmark.plots._picture import Picture, Skipped
from benchmark.plots._registry import Drawn, plot
from benchmark.plots._style import Look, label_at_right, panels, short_names, styled, wrapped
from benchmark.plots._words import counted, listed, number

TITLE = "Training loss by epoch"
HEIGHT, LINE = 2.7, 0.14  # inches of a panel, and of a label
FEW_EPOCHS = 3  # up to which points are marked


@plot("training", place=1)
def draw(material: Material) -> Drawn:
    history = histories(material)
    history = history[pd.to_numeric(history["loss"]).notna()] if len(history) else history
    if not len(history):
        yield Skipped("training", TITLE, "no run has written down a finite loss", "training")
        return
    yield Picture("training", TITLE, caption(history), figure(history, material.looks), "training")


@styled
def figure(history: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """One panel a dataset: mean over seeds with their range; a cross marks where a run diverged."""
    datasets = list(dict.fromkeys(history["dataset"]))
    most = int(history.groupby("dataset")["loss_label"].nunique().max())
    height = max(HEIGHT, LINE * most + 0.7)
    drawn, axes = panels(len(datasets), height, most_columns=2)
    for panel, dataset in zip(axes, datasets, strict=True):
        rows = history[history["dataset"] == dataset]
        shown = [loss for loss in looks if loss in set(rows["loss_label"])]
        names = short_names(shown, 20)
        ends = {}
        for loss in shown:
            epochs = by_epoch(rows[rows["loss_label"] == loss], "loss")
            look, few = looks[loss], len(epochs) <= FEW_EPOCHS
            panel.plot(epochs.index, epochs["mean"], color=look.colour, linestyle=look.dashes,
                       marker=look.marker if few else "", markersize=4)  # fmt: skip
            panel.fill_between(epochs.index, epochs["min"], epochs["max"], color=look.colour, alpha=0.12, linewidth=0)
            ends[names[loss]] = (float(epochs.index[-1]), float(epochs["mean"].iloc[-1]))
            stopped = _last_epochs(rows[(rows["loss_label"] == loss) & rows["diverged"]])
            panel.plot(stopped["epoch"], stopped["loss"], "x", color=look.colour, markersize=6, markeredgewidth=1.5)
        if (rows["loss"] > 0).all():
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            panel.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
        panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        panel.margins(x=0.03)
        label_at_right(panel, ends, LINE / (height - 0.7), {names[loss]: looks[loss].colour for loss in shown})
        panel.set_title(wrapped(dataset, 40))
        panel.set(xlabel="epoch", ylabel="training loss")
    return drawn


def by_epoch(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean, least and largest over the seeds that have a value at an epoch."""
    return rows.dropna(subset=[column]).groupby("epoch")[column].agg(["mean", "min", "max"])


def _last_epochs(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("epoch").groupby("seed").tail(1)


def caption(history: pd.DataFrame) -> str:
    seeds = history.groupby(["dataset", "loss_label"])["seed"].nunique().max()
    told = [
        f"Mean training loss of each epoch, over up to {counted(int(seeds), 'seed')}, with their range. Losses differ "
        "in scale and margin, so a lower curve is not by itself a better one."
    ]
    for dataset, rows in history.groupby("dataset", sort=False):
        last = rows.sort_values("epoch").groupby(["loss_label", "seed"]).tail(1)
        ends = last.groupby("loss_label")["loss"].mean().sort_values()
        told.append(
            f"{dataset}: from {ends.index[0]} at {_brief(ends.iloc[0])} to {ends.index[-1]} at {_brief(ends.iloc[-1])} "
            "in the end."
        )
        diverged = [str(loss) for loss in dict.fromkeys(last.loc[last["diverged"].astype(bool), "loss_label"])]
        if diverged:
            told[-1] = f"{told[-1][:-1]}; runs of {listed(diverged)} diverged, where a cross stands."
    return " ".join(told)


def _brief(value: float) -> str:
    return number(value, 2) if np.isfinite(value) and abs(value) >= 0.01 else f"{value:.1g}"
