"""What adaptive losses adapt: scale, margin, λ or ψ by epoch."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.plots import EACH_APART, Context, Drawn, Look, NothingToDrawError, Picture, plot
from benchmark.plots._histories import ALWAYS, figure_over_epochs, histories, log_scale
from benchmark.plots._style import styled
from benchmark.text import counted

TITLE = "What adaptive losses adapt"
NAMES = {"s": "scale s", "m": "margin m", "lambda": "λ", "psi_mean": "mean ψ over classes"}
UNITS = {"m": ", radians"}
BESIDE = (*ALWAYS, "loss_label", "dataset", "seed", "diverged")
WIDE = 100.0  # largest over least value from which an axis is logarithmic
LEAST_CHANGE = 0.01  # of a quantity within a run, relative to its size: smaller ones are noise


@plot(TITLE, "training", place=2, most_losses=EACH_APART)
def draw(context: Context) -> Drawn:
    adapted = changing(histories(context))
    if not len(adapted):
        raise NothingToDrawError(
            "no loss of this experiment changed its scale, margin or another number by more than 1 %"
        )
    drawn = figure(adapted, context.looks)
    yield Picture("adaptation", TITLE, caption(adapted), drawn, "training", finding(adapted))


def changing(history: pd.DataFrame) -> pd.DataFrame:
    """A row for each epoch, run and quantity, of quantities that change by more than 1 % within some run."""
    quantities = [str(name) for name in history.columns if name not in BESIDE]
    long = history.melt(["loss_label", "dataset", "seed", "diverged", "epoch"], quantities, "quantity", "value")
    long = long[np.isfinite(long["value"].astype(float))]
    spread = long.groupby(["dataset", "loss_label", "quantity", "seed"])["value"].agg(["min", "max"])
    moved = spread["max"] - spread["min"] > LEAST_CHANGE * spread.abs().max(axis=1)
    keys = ["dataset", "loss_label", "quantity"]
    kept = moved.groupby(keys).any()
    return long.set_index(keys).loc[kept[kept].index.intersection(long.set_index(keys).index)].reset_index()


@styled
def figure(adapted: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """A panel for each dataset and quantity, with the losses that adapt it."""
    return figure_over_epochs(adapted, ["dataset", "quantity"], "value", looks, 2.0, 0.15, _set_axes)


def _set_axes(axes: Axes, rows: pd.DataFrame) -> None:
    quantity = rows["quantity"].iloc[0]
    if rows["value"].min() > 0 and rows["value"].max() > WIDE * rows["value"].min():
        log_scale(axes)
    axes.set_ylabel(NAMES.get(quantity, quantity) + UNITS.get(quantity, ""))


def caption(adapted: pd.DataFrame) -> str:
    """How to read the picture."""
    seeds = int(adapted["seed"].nunique())
    dotted = " Dotted lines are runs that diverged." if adapted["diverged"].any() else ""
    return f"Mean over up to {counted(seeds, 'seed')} at the end of each epoch; the band is their range.{dotted}"


def finding(adapted: pd.DataFrame) -> str:
    """What each loss changed, from where to where."""
    found = []
    for (dataset, loss, quantity), rows in adapted.groupby(["dataset", "loss_label", "quantity"], sort=False):
        name = NAMES.get(str(quantity), str(quantity))
        sound, diverged = rows[~rows["diverged"]], rows[rows["diverged"]]
        parts = []
        if len(sound):
            means = sound.groupby("epoch")["value"].mean()
            parts.append(f"from {means.iloc[0]:.3g} to {means.iloc[-1]:.3g}")
        if len(diverged):
            runs = counted(diverged["seed"].nunique(), "run")
            parts.append(f"up to {diverged['value'].max():.3g} in {runs} that diverged")
        found.append(f"On {dataset}, {loss} changes {name} {', '.join(parts)}.")
    return " ".join(found)
