"""What runs recorded after each epoch, as one frame."""

import io
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from benchmark.plots._context import Context
from benchmark.plots._style import Look, dataset_panels, label_at_right, short_names
from benchmark.store import Run
from benchmark.text import power

FEW_EPOCHS = 3  # up to which points are marked
ALWAYS = ("epoch", "step", "loss", "lr")  # every other column is a scale, a margin or what else a loss keeps


def histories(context: Context) -> pd.DataFrame:
    """A row for each epoch of each run: loss_label, dataset, seed, diverged, epoch, loss and what the loss adapts."""
    table = context.table
    rows = zip(context.collected.runs, table["loss"], table["dataset"], table["seed"], table["status"], strict=True)
    parts = [
        _numbers(run).assign(loss_label=loss, dataset=dataset, seed=seed, diverged=status != "ok")
        for run, loss, dataset, seed, status in rows
    ]
    return pd.concat(parts, ignore_index=True)


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


def figure_over_epochs(
    history: pd.DataFrame,
    by: Sequence[str],
    column: str,
    looks: Mapping[str, Look],
    height: float,
    line: float,
    set_axes: Callable[[Axes, pd.DataFrame], None],
) -> Figure:
    """A panel for each dataset and what else `by` names; at least `height` inches, and `line` inches per label."""
    height = max(height, line * int(history.groupby(list(by))["loss_label"].nunique().max()) + 0.7)
    drawn, axes = dataset_panels(history, height, 2, by)
    for panel, rows in axes:
        names = short_names([loss for loss in looks if loss in set(rows["loss_label"])], 20)
        of_loss = {loss: rows[rows["loss_label"] == loss] for loss in names}
        ends = {name: draw_runs(panel, of_loss[loss], column, looks[loss]) for loss, name in names.items()}
        panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        panel.set_xlabel("epoch")
        set_axes(panel, rows)
        label_at_right(panel, ends, line / (height - 0.7), {name: looks[loss].colour for loss, name in names.items()})
    return drawn


def log_scale(axes: Axes) -> None:
    """A logarithmic axis with enough numbers: each power of ten, and steps between if there are few powers."""
    low, high = (float(end) for end in axes.dataLim.intervaly)
    steps = (1.0,) if high > 100.0 * low else (1.0, 2.0, 5.0)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(10.0, steps, numticks=9))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def draw_runs(axes: Axes, rows: pd.DataFrame, column: str, look: Look) -> tuple[float, float]:
    """The mean of one loss's runs with their range; each that diverged is a dotted line with a cross at its end.
    Returns the point at which the loss's name belongs."""
    end = (0.0, 0.0)
    for _, run in rows[rows["diverged"]].dropna(subset=[column]).sort_values("epoch").groupby("seed"):
        axes.plot(run["epoch"], run[column], ":", color=look.colour, linewidth=1.0)
        end = (float(run["epoch"].iloc[-1]), float(run[column].iloc[-1]))
        axes.plot(*end, "x", color=look.colour, markersize=6, markeredgewidth=1.5, clip_on=False)
    epochs = rows[~rows["diverged"]].dropna(subset=[column]).groupby("epoch")[column].agg(["mean", "min", "max"])
    if not len(epochs):
        return end
    marker = look.marker if len(epochs) <= FEW_EPOCHS else ""
    axes.plot(epochs.index, epochs["mean"], color=look.colour, linestyle=look.dashes, marker=marker, markersize=4)
    axes.fill_between(epochs.index, epochs["min"], epochs["max"], color=look.colour, alpha=0.15, linewidth=0)
    return float(epochs.index[-1]), float(epochs["mean"].iloc[-1])
