"""Training curves: the loss by epoch."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.plots import EACH_APART, Context, Drawn, Look, NothingToDrawError, Picture, by_dataset, plot
from benchmark.plots._histories import figure_over_epochs, histories, log_scale
from benchmark.plots._style import styled
from benchmark.text import counted, listed, number

TITLE = "Training loss by epoch"


@plot(TITLE, "training", place=1, most_losses=EACH_APART)
def draw(context: Context) -> Drawn:
    history = histories(context)
    history = history[history["loss"].notna()]
    if not len(history):
        raise NothingToDrawError("no run has recorded a finite loss")
    drawn = figure(history, context.looks)
    yield Picture("training", TITLE, caption(history), drawn, "training", finding(history))


@styled
def figure(history: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """A panel for each dataset: mean over the seeds that did not diverge, with their range."""
    # Runs that diverged are drawn at most ten times as high as the others: they would flatten all other curves.
    highest = 10.0 * history[~history["diverged"]].groupby("dataset")["loss"].max()
    capped = history["loss"].clip(upper=history["dataset"].map(highest[highest > 0]))
    return figure_over_epochs(history.assign(loss=capped), ["dataset"], "loss", looks, 2.7, 0.14, _set_axes)


def _set_axes(axes: Axes, rows: pd.DataFrame) -> None:
    if (rows["loss"] > 0).all():
        log_scale(axes)
    axes.margins(x=0.03)
    axes.set_ylabel("training loss")


def caption(history: pd.DataFrame) -> str:
    """How to read the picture."""
    seeds = history.groupby(["dataset", "loss_label"])["seed"].nunique().max()
    last = history.sort_values("epoch").groupby(["dataset", "loss_label", "seed"]).tail(1)
    diverged = last[last["diverged"]].groupby(["dataset", "loss_label"], sort=False)
    shown = [f"{counted(len(runs), 'run')} of {loss} on {dataset}" for (dataset, loss), runs in diverged]
    note = f" Dotted lines that end in a cross diverged: {listed(shown)}." if shown else ""
    return (
        f"Mean training loss of each epoch over up to {counted(int(seeds), 'seed')} that did not diverge; the band is "
        f"their range. Losses differ in scale and margin, so a lower curve does not mean a better loss.{note}"
    )


def finding(history: pd.DataFrame) -> str:
    """On each dataset, the lowest and the highest curve in the end."""
    found = {}
    last = history.sort_values("epoch").groupby(["dataset", "loss_label", "seed"]).tail(1)
    for dataset, rows in last.groupby("dataset"):
        ends = rows[~rows["diverged"]].groupby("loss_label")["loss"].mean().sort_values()
        shown = [f"{loss} at {_brief(ends[loss])}" for loss in dict.fromkeys(ends.index[[0, -1]])] if len(ends) else []
        ending = f"training ends with {' (lowest) and '.join(shown)}{' (highest)' * (len(shown) > 1)}"
        found[str(dataset)] = ending if shown else "every run diverged"
    return by_dataset(found)


def _brief(value: float) -> str:
    return number(value, 2) if np.isfinite(value) and abs(value) >= 0.01 else f"{value:.1g}"
