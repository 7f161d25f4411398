"""Training curves: the loss by epoch."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from benchmark.plots import EACH_APART, Context, Drawn, Look, NothingToDrawError, Picture, plot
from benchmark.plots._histories import figure_over_epochs, histories, log_scale
from benchmark.plots._style import styled
from benchmark.text import counted, listed, number

TITLE = "Training loss by epoch"


@plot(TITLE, "training", place=1, most_losses=EACH_APART)
def draw(material: Context) -> Drawn:
    history = histories(material)
    history = history[history["loss"].notna()]
    if not len(history):
        raise NothingToDrawError("no run has written down a finite loss")
    yield Picture("training", TITLE, caption(history), figure(history, material.looks), "training")


@styled
def figure(history: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """One panel a dataset: mean over the seeds that did not diverge, with their range."""
    # Runs that diverged are drawn no higher than ten times any other: they would flatten all that matters.
    highest = 10.0 * history[~history["diverged"]].groupby("dataset")["loss"].max()
    capped = history["loss"].clip(upper=history["dataset"].map(highest[highest > 0]))
    return figure_over_epochs(history.assign(loss=capped), ["dataset"], "loss", looks, 2.7, 0.14, _set_axes)


def _set_axes(axes: Axes, rows: pd.DataFrame) -> None:
    if (rows["loss"] > 0).all():
        log_scale(axes)
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.03)
    axes.set_ylabel("training loss")


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
