"""Forest plot: every loss's difference from the baseline, paired by seed, with its interval."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmark import metrics
from benchmark.metrics import MetricColumn
from benchmark.plots import (
    Context,
    Drawn,
    NothingToDrawError,
    Picture,
    by_dataset,
    in_units,
    intervals_in_words,
    name_of,
    plot,
)
from benchmark.plots._style import (
    BETTER,
    GREY,
    INK,
    SMALL,
    WORSE,
    dataset_panels,
    in_order,
    short,
    short_names,
    styled,
    wrapped,
)
from benchmark.text import counted, listed, number

CLIPPED_BEYOND = 12.0  # times the median reach of a panel's intervals: farther ones leave the panel
TITLE = "Differences from the baseline"


@plot(TITLE, "comparison", place=1)
def draw(context: Context) -> Drawn:
    if context.baseline not in context.losses:
        raise NothingToDrawError(f"the baseline, {context.baseline}, has no run")
    if len(context.losses) < 2:
        raise NothingToDrawError("there is no other loss to compare with the baseline")
    compared = context.findings.differences if context.findings.main_columns else pd.DataFrame({"difference": []})
    if compared["difference"].isna().all():
        raise NothingToDrawError("no seed has a value of both the loss and the baseline")
    yield Picture("forest", TITLE, caption(compared), figure(compared), "comparison", finding(compared))


@styled
def figure(compared: pd.DataFrame) -> Figure:
    """A panel for each dataset, from rows of `Findings.differences`; the best loss stands at the top."""
    compared = compared[compared.groupby("dataset")["difference"].transform("count") > 0]  # no panel without a value
    losses = _ordered(compared)
    drawn, axes = dataset_panels(compared, 0.21 * len(losses) + 0.9, most_columns=3, sharey=True)
    names = short_names(losses)
    for panel, rows in axes:
        _panel(panel, rows.set_index("loss").reindex(losses), _column(rows))
        panel.set_title(f"{panel.get_title()}\n{wrapped(name_of(_column(rows)), 32)}")
        panel.set_yticks(range(len(losses)), [names[loss] for loss in losses])
        panel.set_ylim(len(losses) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
    baseline = " or ".join(short(str(name)) for name in compared["baseline"].unique())
    columns = [_column(rows) for _, rows in axes]
    units = {in_units(column) for column in columns}
    sides = {"left" if column.lower_is_better else "right" for column in columns}
    counted_in = units.pop() if len(units) == 1 else ""
    better = f" ({sides.pop()} is better)" if len(sides) == 1 else ""
    drawn.supxlabel(f"difference from {baseline}{counted_in}{better}")
    drawn.legend(handles=_legend(compared), loc="outside upper center", ncols=4)
    return drawn


def _column(rows: pd.DataFrame) -> MetricColumn:
    """How the metric of a panel is shown; all its rows have the same."""
    return metrics.column(str(rows["metric"].iloc[0]))


def _ordered(compared: pd.DataFrame) -> list[str]:
    """By the difference over all datasets, or on the last one; losses without a value come last."""
    last = compared[compared["dataset"] == max(compared["dataset"], key=in_order)]
    lower_is_better = _column(last).lower_is_better
    by_mean = compared.groupby("loss")["difference"].mean()
    keys = last.assign(mean=last["loss"].map(by_mean)).sort_values(
        ["difference", "mean", "loss"], ascending=[lower_is_better, lower_is_better, True], na_position="last"
    )
    return [str(loss) for loss in keys["loss"]]


def _panel(axes: Axes, rows: pd.DataFrame, column: MetricColumn) -> None:
    measured = rows[["difference", "low", "high"]].astype("Float64")
    values = column.factor * measured.to_numpy(dtype=float, na_value=np.nan)
    ends = _limits(values)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_xlim(ends)
    for height, ((value, low, high), significant) in enumerate(zip(values, rows["significant"], strict=True)):
        if np.isnan(value):
            axes.text(0.5, height, "no value", transform=axes.get_yaxis_transform(), color=GREY, fontsize=SMALL,
                      ha="center", va="center", backgroundcolor="white")  # fmt: skip
            continue
        tested = not pd.isna(significant)
        better = (value < 0) == column.lower_is_better
        colour = (BETTER if better else WORSE) if tested and significant else GREY
        if not np.isnan(low):
            axes.plot([low, high], [height, height], color=colour, linewidth=1.6, solid_capstyle="butt")
        if not ends[0] <= value <= ends[1]:
            _arrow(axes, value, height, colour)
            continue
        sure = tested and bool(significant)
        marker = ("o" if better or not sure else "s") if tested else "x"
        filled = colour if sure else "white"
        axes.plot([value], [height], marker, color=colour, markerfacecolor=filled, markersize=5.5, zorder=3)


def _limits(values: np.ndarray) -> tuple[float, float]:
    """The panel's ends, with 0 inside; one huge interval does not flatten the others, it runs out of the panel."""
    reach = np.nanmax(np.abs(values), axis=1, initial=0.0, where=~np.isnan(values))
    typical = float(np.median(reach[reach > 0])) if (reach > 0).any() else 1.0
    low, high = np.nanmin(values, initial=0.0), np.nanmax(values, initial=0.0)
    room = 0.06 * max(high - low, typical)
    most = CLIPPED_BEYOND * typical
    return max(float(low) - room, -most), min(float(high) + room, most)


def _arrow(axes: Axes, value: float, height: int, colour: str) -> None:
    """A value outside the panel, as a number, at the side where it lies."""
    right, across = value > 0, axes.get_yaxis_transform()
    head, edge = (">", 0.98) if right else ("<", 0.02)
    axes.plot([edge], [height], head, color=colour, markersize=5.5, transform=across)
    axes.text(0.94 if right else 0.06, height, number(value, 1, signed=True), color=colour, fontsize=SMALL,
              va="center", ha="right" if right else "left", backgroundcolor="white", transform=across)  # fmt: skip


def _legend(compared: pd.DataFrame) -> list[Line2D]:
    """The kinds of marks that occur, the whisker and the line at 0."""
    rows = compared[compared["difference"].notna()]
    tested = rows[rows["significant"].notna()]
    sure = tested[tested["significant"].astype(bool)]
    better = int(_is_better(sure).sum())
    kinds = [
        ("o", BETTER, BETTER, "significantly better", better > 0),
        ("s", WORSE, WORSE, "significantly worse", better < len(sure)),
        ("o", GREY, "white", "not significant", len(sure) < len(tested)),
        ("x", GREY, GREY, "too few seeds to test", len(tested) < len(rows)),
    ]
    marks = [
        Line2D([], [], marker=marker, color=colour, markerfacecolor=face, linewidth=0, label=text)
        for marker, colour, face, text, occurs in kinds
        if occurs
    ]
    lines = [Line2D([], [], color=INK, linewidth=0.8, label="0: equal to the baseline")]
    if rows["low"].notna().any():
        lines.insert(0, Line2D([], [], color=GREY, linewidth=1.6, label="95 % interval"))
    return [*marks, *lines]


def _is_better(rows: pd.DataFrame) -> pd.Series:
    lower = rows["metric"].map(lambda key: metrics.column(str(key)).lower_is_better).astype(bool)
    return (rows["difference"].astype(float) > 0) != lower


def caption(compared: pd.DataFrame) -> str:
    """How to read the picture."""
    parts = [
        f"Each mark is a loss minus {listed([str(name) for name in compared['baseline'].unique()])}, the mean over the "
        f"seeds that both have. {intervals_in_words(compared['carries'], 'Lines through marks')}"
    ]
    if compared["significant"].notna().any():
        parts.append(
            "Filled marks differ significantly from the baseline after Holm's correction, hollow ones do not. "
            "Intervals are not corrected, so a hollow mark's line can miss 0."
        )
    untested = compared[compared["significant"].isna()]
    if len(untested):
        parts.append(f"Crosses could not be tested: {'; '.join(sorted({str(note) for note in untested['note']}))}.")
    return " ".join(parts)


def finding(compared: pd.DataFrame) -> str:
    """On each dataset, which losses differ from the baseline."""
    return by_dataset({str(dataset): _who_differs(rows) for dataset, rows in compared.groupby("dataset")})


def _who_differs(rows: pd.DataFrame) -> str:
    column, tested = _column(rows), rows[rows["significant"].notna()]
    if not len(tested):
        return "no difference could be tested"
    baseline = " or ".join(str(name) for name in tested["baseline"].unique())
    sure = tested[tested["significant"].astype(bool)].sort_values("difference", ascending=False)
    if not len(sure):
        return f"none of {counted(len(tested), 'loss')} differs significantly from {baseline}"
    differences = zip(sure["loss"], sure["difference"].astype(float), strict=True)
    shown = [f"{loss} {number(column.factor * value, column.decimals, signed=True)}" for loss, value in differences]
    verb = "differs" if len(sure) == 1 else "differ"
    return f"{len(sure)} of {counted(len(tested), 'loss')} {verb} significantly from {baseline} ({listed(shown, 6)})"
