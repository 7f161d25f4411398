"""What runs wrote down after each epoch, as one frame."""

import io

import pandas as pd

from benchmark.plots._material import Material
from benchmark.store import Run

ALWAYS = ("epoch", "step", "loss", "lr")  # every other column is a scale, a margin or what else a loss keeps


def histories(material: Material) -> pd.DataFrame:
    """One row an epoch of a run: loss_label, dataset, seed, diverged, epoch, loss and what the loss adapts."""
    table = material.table
    rows = zip(material.collected.runs, table["loss"], table["dataset"], table["seed"], table["status"], strict=True)
    parts = [
        _numbers(run).assign(loss_label=loss, dataset=dataset, seed=seed, diverged=status != "ok")
        for run, loss, dataset, seed, status in rows
    ]
    parts = [part for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["loss_label", "dataset", *ALWAYS])


def _numbers(run: Run) -> pd.DataFrame:
    """The history's columns as numbers; empty if it lacks what every history has."""
    history = pd.read_csv(io.StringIO(run.history()))
    if not {"epoch", "loss"} <= set(history.columns):
        return history.iloc[:0]
    numbers = {name: pd.to_numeric(history[name], errors="coerce") for name in history.columns}
    return pd.DataFrame(numbers).dropna(subset=["epoch"])


def last_row(run: Run) -> dict[str, float]:
    """What a loss kept at the end of training."""
    history = _numbers(run)
    return {} if not len(history) else {str(name): float(value) for name, value in history.iloc[-1].items()}
