"""What is drawn, read back from a figure."""

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from benchmark.plots._files import lay_out
from benchmark.plots._style import applied


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is to be seen, with its place (of an annotation, without its line)."""
    with applied():
        lay_out(figure)
        figure.draw_without_rendering()  # legends find their places when drawn
        renderer = FigureCanvasAgg(figure).get_renderer()
        unseen = {id(text) for axes in figure.axes for text in _unseen(axes)}
        shown = [text for text in figure.findobj(Text) if text.get_text().strip() and id(text) not in unseen]
        boxes = [(text.get_text(), Text.get_window_extent(text, renderer)) for text in shown if text.get_visible()]
    return [(text, box) for text, box in boxes if box.width and box.height]


def _unseen(axes: Axes) -> list[Text]:
    """Labels of an axis that is switched off, and those of ticks outside its limits or hidden."""
    found = []
    for axis in (axes.xaxis, axes.yaxis):
        shown = axis._update_ticks() if axes.axison else []
        found += [] if axes.axison else [axis.label, axis.offsetText]
        for tick in (*axis.majorTicks, *axis.minorTicks):
            found += [] if tick in shown else [tick.label1, tick.label2]
    return found


def faults(figure: Figure, slack: float = 1.0) -> list[str]:
    """Texts that lie over each other, or reach over the figure's edge, by more than a pixel."""
    found, whole = texts(figure), figure.bbox
    cut_off = [
        f"{text!r} is cut off"
        for text, box in found
        if box.x0 < -slack or box.y0 < -slack or box.x1 > whole.width + slack or box.y1 > whole.height + slack
    ]
    return cut_off + [
        f"{one!r} lies over {other!r}"
        for (one, a), (other, b) in combinations(found, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack
    ]


def is_empty(axes: Axes) -> bool:
    """Whether there is nothing in a panel."""
    return not (axes.lines or axes.collections or axes.patches or axes.texts or axes.images)
