"""Critical-difference diagram: average ranks over datasets, with bars over losses that do not differ significantly."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, name_of, plot
from benchmark.plots._style import GREY, INK, SMALL, WIDTH, blank, short_names, styled
from benchmark.statistics import CriticalDifference, Ranks, average_ranks, critical_difference
from benchmark.text import SMALLEST_P, counted, listed, number, p_value

TITLE = "Average ranks over datasets"
LINE = 0.2  # inches between two labels
BAR = 0.11  # between two bars


@plot(TITLE, "comparison", place=3)
def draw(context: Context) -> Drawn:
    if context.table[context.metric].isna().all():
        raise NothingToDrawError(f"no run has a {name_of(context.column)}")
    ranks = average_ranks(context.table, context.metric, context.column.lower_is_better)
    found = critical_difference(ranks)
    if not found.can_separate:
        raise NothingToDrawError(found.note + _left_out(ranks))
    words, seen = caption(ranks, found, context.column), finding(ranks, found)
    yield Picture("critical_difference", TITLE, words, figure(ranks, found), "comparison", seen)


def _left_out(ranks: Ranks) -> str:
    return "".join(f"; {dataset} left out, {why}" for dataset, why in ranks.left_out.items())


@styled
def figure(ranks: Ranks, found: CriticalDifference) -> Figure:
    """The best rank stands at the left; every loss has a line to its name, the better half of them on the left side."""
    average = ranks.average
    left = int(np.ceil(len(average) / 2))
    bars = [group for group in found.groups if len(group) > 1]
    below = BAR * len(bars) + 0.15
    height = 0.75 + below + LINE * left
    drawn = blank(WIDTH, height)
    axes = drawn.subplots()
    axes.set_axis_off()
    best, worst = 1.0, float(len(average))
    margin = 0.45 * (worst - best)
    axes.set(xlim=(best - margin, worst + margin), ylim=(-below - LINE * left, 0.7))
    _scale(axes, best, worst, found.difference or 0.0)
    names = short_names(average.index, 26)
    for place, (loss, rank) in enumerate(average.items()):
        on_left = place < left
        row = place if on_left else len(average) - 1 - place
        depth, end = -below - LINE * row, best - 0.04 * margin if on_left else worst + 0.04 * margin
        axes.plot([rank, rank, end], [0.0, depth, depth], color=GREY, linewidth=0.8)
        axes.plot([rank], [0.0], "o", color=INK, markersize=3.5)
        text = f"{names[str(loss)]}  {number(rank)}" if on_left else f"{number(rank)}  {names[str(loss)]}"
        axes.text(end, depth, f" {text} ", ha="right" if on_left else "left", va="center", fontsize=8)
    for number_of, group in enumerate(bars):
        ends = average[group[0]] - 0.004 * (worst - best), average[group[-1]] + 0.004 * (worst - best)
        axes.plot(ends, [-0.12 - BAR * number_of] * 2, color=INK, linewidth=3.5, solid_capstyle="butt")
    return drawn


def _scale(axes: Axes, best: float, worst: float, difference: float) -> None:
    axes.plot([best, worst], [0.0, 0.0], color=INK, linewidth=1.0)
    for rank in np.arange(best, worst + 1):
        axes.plot([rank, rank], [0.0, 0.06], color=INK, linewidth=1.0)
        if worst <= 16 or rank % 2:
            axes.text(rank, 0.09, f"{rank:.0f}", ha="center", va="bottom", fontsize=SMALL)
    axes.plot([best, best + difference], [0.42, 0.42], color=INK, linewidth=1.0, marker="|", markersize=7)
    text = f"critical difference {number(difference)}"
    axes.text(best + difference / 2, 0.48, text, ha="center", va="bottom", fontsize=SMALL)


def caption(ranks: Ranks, found: CriticalDifference, column: MetricColumn) -> str:
    """How to read the picture."""
    p = found.friedman_p
    equals = "" if p is None or p < SMALLEST_P else "= "
    friedman = "" if p is None else f" Friedman's test that all losses are equal: p {equals}{p_value(p)}."
    return (
        f"Average rank of {counted(len(ranks.average), 'loss')} by {name_of(column)} over "
        f"{counted(found.datasets, 'dataset')}; 1 is best. A bar joins losses whose ranks differ by less than "
        f"{number(found.difference or 0.0)}: they are not significantly different by Nemenyi's test, which uses ranks "
        f"alone and is not the test of the tables.{friedman}{_left_out(ranks)}"
    )


def finding(ranks: Ranks, found: CriticalDifference) -> str:
    """The ranks, and which losses the first one is joined with."""
    average = ranks.average
    shown = listed([f"{loss} {number(rank)}" for loss, rank in average.items()], 6)
    first = str(average.index[0])
    joined = [loss for group in found.groups if first in group for loss in group if loss != first]
    different = f"{first} is not significantly different from {listed(list(dict.fromkeys(joined)), 6)}"
    return f"Average ranks: {shown}. {different if joined else f'{first} differs significantly from all others'}."
