"""Forest plot: every loss's difference from the baseline, paired by seed, with its interval."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmark import metrics
from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, in_units, intervals_in_words, name_of, plot
from benchmark.plots._style import BETTER, GREY, INK, SMALL, WORSE, dataset_panels, short, short_names, styled
from benchmark.statistics import ALL_DATASETS, compare
from benchmark.text import counted, listed, number

CLIPPED_BEYOND = 5.0  # times the median reach of a panel's intervals
TITLE = "Differences from the baseline"


@plot(TITLE, "comparison", place=1)
def draw(material: Context) -> Drawn:
    if material.baseline not in material.losses:
        raise NothingToDrawError(f"the baseline, {material.baseline}, has no run")
    if len(material.losses) < 2:
        raise NothingToDrawError("there is no other loss to compare with the baseline")
    against = material.collected.experiment.baselines
    jackknife = material.collected.jackknife
    compared = compare(material.table, material.baseline, [material.metric], jackknife, against=against)
    if compared["difference"].isna().all():
        raise NothingToDrawError(f"no seed has a {name_of(material.column)} of both sides")
    yield Picture("forest", TITLE, caption(compared, material.baseline), figure(compared), "comparison")


@styled
def figure(compared: pd.DataFrame) -> Figure:
    """One panel a dataset from the rows of `statistics.compare` for one metric; the best loss stands at the top."""
    compared = compared[compared.groupby("dataset")["difference"].transform("count") > 0]  # no panel without a value
    column = metrics.column(str(compared["metric"].iloc[0]))
    losses = _ordered(compared, column.lower_is_better)
    drawn, axes = dataset_panels(compared, 0.21 * len(losses) + 0.75, most_columns=3, sharey=True)
    names = short_names(losses)
    for panel, rows in axes:
        _panel(panel, rows.set_index("loss").reindex(losses), column)
        panel.set_yticks(range(len(losses)), [names[loss] for loss in losses])
        panel.set_ylim(len(losses) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
    baseline = " or ".join(short(str(name)) for name in compared["baseline"].unique())
    side = "left" if column.lower_is_better else "right"
    drawn.supxlabel(f"{name_of(column)}: difference from {baseline}{in_units(column)} ({side} is better)")
    drawn.legend(handles=_legend(compared, column.lower_is_better), loc="outside upper center", ncols=4)
    return drawn


def _ordered(compared: pd.DataFrame, lower_is_better: bool) -> list[str]:
    """By the difference over all datasets, or on the only one; losses without a value come last."""
    last = compared[compared["dataset"] == compared["dataset"].iloc[-1]]
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
        marker = ("o" if better else "s") if tested else "x"
        filled = colour if tested and significant else "white"
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


def _legend(rows: pd.DataFrame, lower_is_better: bool) -> list[Line2D]:
    """The kinds of marks that occur."""
    rows = rows[rows["difference"].notna()]
    tested = rows[rows["significant"].notna()]
    clear, rising = tested["significant"].astype(bool), tested["difference"] > 0
    kinds = [
        ("o", BETTER, BETTER, "better, after Holm", (clear & (rising != lower_is_better)).any()),
        ("s", WORSE, WORSE, "worse, after Holm", (clear & (rising == lower_is_better)).any()),
        ("o", GREY, "white", "not significant", (~clear).any()),
        ("x", GREY, GREY, "too few seeds to test", len(tested) < len(rows)),
    ]
    return [
        Line2D([], [], marker=marker, color=colour, markerfacecolor=face, linewidth=1.6, label=text)
        for marker, colour, face, text, occurs in kinds
        if occurs
    ]


def caption(compared: pd.DataFrame, baseline: str) -> str:
    """What the picture shows, in words."""
    column = metrics.column(str(compared["metric"].iloc[0]))
    carries = intervals_in_words(compared["carries"])
    others = [str(name) for name in compared["baseline"].unique() if name != baseline]
    origin = ", of tuned losses from ".join([baseline, *others])
    units = in_units(column, " in ")
    told = [f"{column.heading}, difference from {origin}{units}, mean over paired seeds ({carries})."]
    if compared["significant"].notna().any():
        told.append("Filled marks differ from the baseline after Holm's correction, hollow ones do not.")
    for dataset, rows in compared.groupby("dataset", sort=False):
        where = "All datasets together" if dataset == ALL_DATASETS else str(dataset)
        told.append(f"{where}: {_told(rows, column)}.")
    return " ".join(told)


def _told(rows: pd.DataFrame, column: MetricColumn) -> str:
    tested = rows[rows["significant"].notna()]
    found = tested[tested["significant"].astype(bool)].sort_values("difference", ascending=False)
    parts = [f"{len(found)} of {counted(len(tested), 'loss')} differ"] if len(tested) else []
    if len(found):
        differences = zip(found["loss"], found["difference"].astype(float), strict=True)
        shown = [f"{loss} {number(column.factor * value, column.decimals, signed=True)}" for loss, value in differences]
        parts[-1] += f" ({listed(shown)})"
    untested = rows[rows["significant"].isna()]
    if len(untested):
        reasons = "; ".join(sorted({str(note) for note in untested["note"]}))
        parts.append(f"{counted(len(untested), 'loss')} could not be tested ({reasons})")
    return "; ".join(parts)
