"""s against the number of classes, a line for each rule, and the scales that were best where it was measured."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmark.advice.advice import Case, best_measured, scale_by
from benchmark.advice.maps_file import Map
from benchmark.advice.tables import PLAIN
from benchmark.advice.theory import COSINES, RULES
from benchmark.plots._style import COLOURS, DASHES, INK, MARKERS, PALE, blank, styled
from benchmark.text import power

FIRST, LAST, STEPS = 3, 10**6, 120


@styled
def figure(maps: Map | None, gap: float, classes: int | None = None) -> Figure:
    """`classes` is marked by a line."""
    last = max(LAST, classes or 0)
    counts = sorted({round(FIRST * (last / FIRST) ** (step / STEPS)) for step in range(STEPS + 1)})
    drawn = blank(height=4.2)
    axes = drawn.subplots()
    for place, rule in enumerate(RULES):
        points = [(count, scale_by(rule, Case(count, gap=gap))) for count in counts]
        known = [(count, scale) for count, scale in points if scale is not None]
        label = rule.name if rule.multiplies == COSINES else f"{rule.name} (−s·θ, gap {gap:g})"
        label += ", at least" if rule.bound else ""
        colour, dashes = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        axes.plot(*zip(*known, strict=True), color=colour, linestyle=dashes, label=label)
    if maps is not None:
        _measured(axes, maps)
    axes.set_xscale("log")
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    axes.minorticks_off()
    if classes is not None:
        axes.axvline(classes, color=PALE, linewidth=1.2, zorder=0)
    axes.set(xlabel="training classes C", ylabel="scale s")
    drawn.legend(loc="outside right upper")
    return drawn


def _measured(axes: Axes, maps: Map) -> None:
    for place, name in enumerate(PLAIN):
        points = []
        for dataset in dict.fromkeys(row.dataset for row in maps.rows):
            best = best_measured([row for row in maps.rows if row.loss == name and row.dataset == dataset])
            points += [(best.row.classes * 1.06 ** (place - 1), best.row.s)] if best is not None and best.row.s else []
        if points:
            axes.plot(*zip(*points, strict=True), MARKERS[place], color=INK, markerfacecolor="white", markersize=5.5,
                      label=f"{name}, best measured")  # fmt: skip
