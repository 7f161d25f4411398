"""Training curves: the loss by epoch."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from benchmark.plots._context import Context
from benchmark.plots._histories import draw_runs, histories
from benchmark.plots._picture import Picture, Skipped
from benchmark.plots._registry import EACH_APART, Drawn, plot
from benchmark.plots._style import Look, label_at_right, panels, short_names, styled, wrapped
from benchmark.text import counted, listed, number, power

TITLE = "Training loss by epoch"
HEIGHT, LINE = 2.7, 0.14  # inches of a panel, and of a label


@plot(TITLE, "training", place=1, most_losses=EACH_APART)
def draw(material: Context) -> Drawn:
    history = histories(material)
    history = history[history["loss"].notna()]
    if not len(history):
        yield Skipped("training", TITLE, "no run has written down a finite loss", "training")
        return
    yield Picture("training", TITLE, caption(history), figure(history, material.looks), "training")


@styled
def figure(history: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """One panel a dataset: mean over the seeds that did not diverge, with their range."""
    datasets = list(dict.fromkeys(history["dataset"]))
    most = int(history.groupby("dataset")["loss_label"].nunique().max())
    height = max(HEIGHT, LINE * most + 0.7)
    drawn, axes = panels(len(datasets), height, most_columns=2)
    for panel, dataset in zip(axes, datasets, strict=True):
        rows = _capped(history[history["dataset"] == dataset])
        shown = [loss for loss in looks if loss in set(rows["loss_label"])]
        names = short_names(shown, 20)
        ends = {names[loss]: draw_runs(panel, rows[rows["loss_label"] == loss], "loss", looks[loss]) for loss in shown}
        if (rows["loss"] > 0).all():
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
            panel.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
        panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        panel.margins(x=0.03)
        label_at_right(panel, ends, LINE / (height - 0.7), {names[loss]: looks[loss].colour for loss in shown})
        panel.set_title(wrapped(dataset, 40))
        panel.set(xlabel="epoch", ylabel="training loss")
    return drawn


def _capped(rows: pd.DataFrame) -> pd.DataFrame:
    """Losses of runs that diverged, no higher than ten times any other: they would flatten all that matters."""
    sound = rows.loc[~rows["diverged"], "loss"]
    return rows.assign(loss=rows["loss"].clip(upper=10.0 * sound.max())) if len(sound) and sound.max() > 0 else rows


def caption(history: pd.DataFrame) -> str:
    seeds = history.groupby(["dataset", "loss_label"])["seed"].nunique().max()
    told = [
        f"Mean training loss of each epoch, over up to {counted(int(seeds), 'seed')} that did not diverge, with their "
        "range. Losses differ in scale and margin, so a lower curve is not by itself a better one."
    ]
    for dataset, rows in history.groupby("dataset", sort=False):
        last = rows.sort_values("epoch").groupby(["loss_label", "seed"]).tail(1)
        ends = last[~last["diverged"]].groupby("loss_label")["loss"].mean().sort_values()
        if len(ends):
            first, final = (f"{ends.index[i]} at {_brief(ends.iloc[i])}" for i in (0, -1))
            told.append(f"{dataset}: from {first} to {final} in the end.")
        diverged = last[last["diverged"]].groupby("loss_label").size()
        if len(diverged):
            shown = [f"{counted(count, 'run')} of {loss}" for loss, count in diverged.items()]
            told.append(f"{dataset}: {listed(shown)} diverged: dotted, to a cross.")
    return " ".join(told)


def _brief(value: float) -> str:
    return number(value, 2) if np.isfinite(value) and abs(value) >= 0.01 else f"{value:.1g}"
