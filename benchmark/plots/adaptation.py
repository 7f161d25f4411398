"""What adaptive losses adapt: scale, margin, λ or ψ by epoch."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from benchmark.plots._context import Context
from benchmark.plots._histories import ALWAYS, draw_runs, histories
from benchmark.plots._picture import Picture, Skipped
from benchmark.plots._registry import EACH_APART, Drawn, plot
from benchmark.plots._style import Look, label_at_right, panels, short_names, styled, wrapped
from benchmark.text import counted, power

TITLE = "What adaptive losses adapt"
NAMES = {"s": "scale s", "m": "margin m", "lambda": "λ", "psi_mean": "mean ψ over classes"}
UNITS = {"m": ", radians"}
BESIDE = (*ALWAYS, "loss_label", "dataset", "seed", "diverged")
HEIGHT, LINE = 2.0, 0.15  # inches of a panel, and of a label
WIDE = 100.0  # largest over least value from which an axis is logarithmic


@plot(TITLE, "training", place=2, most_losses=EACH_APART)
def draw(material: Context) -> Drawn:
    adapted = changing(histories(material))
    if not len(adapted):
        reason = "no loss of this experiment changed a scale, margin or other number from one epoch to another"
        yield Skipped("adaptation", TITLE, reason, "training")
        return
    yield Picture("adaptation", TITLE, caption(adapted), figure(adapted, material.looks), "training")


def changing(history: pd.DataFrame) -> pd.DataFrame:
    """One row an epoch of a run and quantity, of quantities that are not the same in all epochs of some run."""
    quantities = [str(name) for name in history.columns if name not in BESIDE]
    long = history.melt(["loss_label", "dataset", "seed", "diverged", "epoch"], quantities, "quantity", "value")
    long = long[np.isfinite(long["value"].astype(float))]
    spread = long.groupby(["dataset", "loss_label", "quantity", "seed"])["value"].agg(["min", "max"])
    moved = spread["max"] - spread["min"] > 1e-3 * spread.abs().max(axis=1)
    keys = ["dataset", "loss_label", "quantity"]
    kept = moved.groupby(keys).any()
    return long.set_index(keys).loc[kept[kept].index.intersection(long.set_index(keys).index)].reset_index()


@styled
def figure(adapted: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """One panel for every dataset and quantity, with the losses that adapt it."""
    shown = list(dict.fromkeys(zip(adapted["dataset"], adapted["quantity"], strict=True)))
    most = int(adapted.groupby(["dataset", "quantity"])["loss_label"].nunique().max())
    height = max(HEIGHT, LINE * most + 0.7)
    drawn, axes = panels(len(shown), height, most_columns=2)
    for panel, (dataset, quantity) in zip(axes, shown, strict=True):
        rows = adapted[(adapted["dataset"] == dataset) & (adapted["quantity"] == quantity)]
        losses = [loss for loss in looks if loss in set(rows["loss_label"])]
        names = short_names(losses, 20)
        ends = {
            names[loss]: draw_runs(panel, rows[rows["loss_label"] == loss], "value", looks[loss]) for loss in losses
        }
        if rows["value"].min() > 0 and rows["value"].max() > WIDE * rows["value"].min():
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
        panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        label_at_right(panel, ends, LINE / (height - 0.7), {names[loss]: looks[loss].colour for loss in losses})
        panel.set_title(wrapped(dataset, 40))
        panel.set(xlabel="epoch", ylabel=NAMES.get(quantity, quantity) + UNITS.get(quantity, ""))
    return drawn


def caption(adapted: pd.DataFrame) -> str:
    seeds = int(adapted["seed"].nunique())
    told = [f"Mean over up to {counted(seeds, 'seed')} at the end of each epoch, with their range."]
    for (dataset, loss, quantity), rows in adapted.groupby(["dataset", "loss_label", "quantity"], sort=False):
        name = NAMES.get(str(quantity), str(quantity))
        sound, diverged = rows[~rows["diverged"]], rows[rows["diverged"]]
        parts = []
        if len(sound):
            means = sound.groupby("epoch")["value"].mean()
            parts.append(f"from {means.iloc[0]:.3g} to {means.iloc[-1]:.3g}")
        if len(diverged):
            runs = counted(diverged["seed"].nunique(), "run")
            parts.append(f"up to {diverged['value'].max():.3g} in {runs} that diverged (dotted)")
        told.append(f"{dataset}, {loss}: {name} {', '.join(parts)}.")
    return " ".join(told)
