"""The measurements as pictures."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmark.plots._style import BETTER, COLOURS, GREY, INK, MARKERS, WORSE, blank, panels, styled
from perf._model import MET, MISSED, Curve, Measured, Part

TITLES = {
    "loss-head-time": "Time of a head's step",
    "loss-head-memory": "Memory of a head's step beyond weights and gradient",
    "growth": "How time grows",
}


def draw(parts: Sequence[Part]) -> Iterator[tuple[str, str, Figure]]:
    """File name, title and picture of everything that can be drawn."""
    barred = [one for part in parts for one in part.measured if one.bar is not None]
    if barred:
        yield "bars", "Every measurement and its bar", bars(barred)
    curves = [curve for part in parts for curve in part.curves]
    for name in dict.fromkeys(curve.figure for curve in curves):
        together = [curve for curve in curves if curve.figure == name]
        title = TITLES.get(name, name)
        yield name, title, growths(together, title) if together[0].growth else lines(together, title)


@styled
def bars(measured: Sequence[Measured]) -> Figure:
    """How many times better than its bar each measurement is; below 1 the bar is missed."""
    figure = blank(height=max(0.28 * len(measured) + 0.9, 2.4))
    axes = figure.subplots()
    for place, one in enumerate(reversed(measured)):
        ends = [_times_better(one, value) for value in (one.low, one.value, one.high) if value is not None]
        colour = {MET: BETTER, MISSED: WORSE}.get(one.verdict, GREY)
        axes.plot([min(ends), max(ends)], [place, place], color=colour)
        axes.plot(_times_better(one, one.value), place, "o", color=colour)
    axes.axvline(1.0, color=INK, linewidth=1.0)
    axes.set(xlabel="times better than the bar; left of the line: missed; grey: not judged")
    _logarithmic(axes.xaxis)
    axes.set_yticks(range(len(measured)), [f"{one.what}\n{one.at}" for one in reversed(measured)], fontsize=6)
    return figure


def _times_better(one: Measured, value: float) -> float:
    assert one.bar is not None
    value = max(value, one.bar.limit * 1e-3)  # a value of 0 has a place too
    return one.bar.limit / value if one.bar.sign == "≤" else value / one.bar.limit


@styled
def lines(curves: Sequence[Curve], title: str) -> Figure:
    """Several curves in one panel, both axes logarithmic."""
    figure = blank(height=3.6)
    axes = figure.subplots()
    for number, curve in enumerate(curves):
        axes.plot(curve.x, curve.y, marker=MARKERS[number], color=COLOURS[number], label=curve.what)
    axes.set(xlabel=curves[0].size, ylabel=curves[0].unit, title=title)
    _both_logarithmic(axes)
    axes.legend()
    return figure


@styled
def growths(curves: Sequence[Curve], title: str) -> Figure:
    """A panel for each curve, with the fitted line."""
    figure, grid = panels(len(curves), height=2.2, most_columns=3)
    figure.suptitle(title)
    for axes, curve in zip(grid, curves, strict=True):
        axes.plot(curve.x, curve.y, "o", color=BETTER)
        if curve.growth is not None:
            axes.plot(curve.x, [curve.growth.at(size) for size in curve.x], color=GREY)
            exponent = f"exponent {curve.growth.exponent:.2f}"
            axes.set_title(f"{curve.what}\n{exponent}", fontsize=8)
        axes.set(xlabel=curve.size, ylabel=curve.unit)
        _both_logarithmic(axes)
    return figure


def _both_logarithmic(axes: Axes) -> None:
    _logarithmic(axes.xaxis)
    _logarithmic(axes.yaxis)


def _logarithmic(axis: Axis) -> None:
    """A logarithmic scale whose numbers are written out."""
    scale = axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale
    scale("log")
    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1.0,) if high > 30 * low else (1.0, 2.0, 5.0), numticks=7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1_000 else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
