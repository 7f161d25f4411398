"""What a figure draws, in words, read from the figure itself: panels, axes, rows and labelled lines."""

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import FixedLocator

from benchmark.tables.model import visible
from benchmark.text import listed

MOST_NAMED = 12


def axes_in_words(figure: Figure) -> str:
    """`2 panels: digits and glyphs. Horizontal axis: scale s. Vertical axis: …. Rows: …. Labelled: ….`"""
    axes = [one for one in figure.axes if one.get_label() != "<colorbar>"]
    titles = [one.get_title().split("\n")[0] for one in axes if one.get_title()]
    panels = f"{len(titles)} panels: {_named(titles)}." if len(titles) > 1 else ""
    shown = [one for one in axes if one.axison]
    parts = {
        "Horizontal axis": [figure.get_supxlabel(), *(one.get_xlabel() for one in shown)],
        "Vertical axis": [figure.get_supylabel(), *(one.get_ylabel() for one in shown)],
        "Rows": [name for one in shown for name in _row_names(one)],
        "Labelled": [*_in_legends(figure), *(name for one in shown for name in _beside(one))],
    }
    words = [f"{part}: {_named(names)}." for part, names in parts.items() if any(names)]
    return " ".join([panels, *words]).strip()


def _named(names: Iterable[str]) -> str:
    """Each name once, on one line."""
    return listed(list(dict.fromkeys(" ".join(visible(name).split()) for name in names if name)), MOST_NAMED)


def _row_names(axes: Axes) -> list[str]:
    """Names along the vertical axis; numbers are none."""
    labels = axes.get_yticklabels() if isinstance(axes.yaxis.get_major_locator(), FixedLocator) else []
    names = [label.get_text() for label in labels]
    return [name for name in names if not name.replace(".", "").isdigit()]


def _beside(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if isinstance(text, Annotation)]


def _in_legends(figure: Figure) -> list[str]:
    legends = [*figure.legends, *(one.get_legend() for one in figure.axes)]
    return [text.get_text() for legend in legends if legend is not None for text in legend.get_texts()]
