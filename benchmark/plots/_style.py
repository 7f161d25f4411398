"""How every picture looks: sizes, colours that colour-blind readers can distinguish, and one look for each loss."""

import math
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

import losses
from benchmark.statistics import ALL_DATASETS
from benchmark.tables.model import visible
from benchmark.text import natural_key

P = ParamSpec("P")

WIDTH = 7.5  # inches
LOWEST = 2.4  # inches: the least height at which a label along the side is not cut off
SMALL = 8  # points, the smallest text
INK, GREY, PALE = "#000000", "#6e6e6e", "#c4c4c4"
BETTER, WORSE = "#0072b2", "#d55e00"
COLOURS = ("#0072b2", "#de8f05", "#009e73", "#cc5500", "#a3509b", "#56b4e9", "#5c3a1e")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
MARKERS = "osD^vPX*<>ph"
DIFFERENT = len(COLOURS) * len(DASHES)  # their numbers have no common divisor: so many looks differ
OF_CLASSES = (
    "#0072b2", "#e69f00", "#009e73", "#9e3a00", "#b065a8", "#56b4e9", "#4d3319", "#000000", "#999999", "#d8c800",
)  # fmt: skip
"""They differ in lightness too, and numbers or markers stand beside them."""

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "figure.labelsize"), 9),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), SMALL),
    "figure.titlesize": 10,
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), GREY),
    **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), INK),
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "text.parse_math": False,  # labels come from files: a $ is a $
    "text.hinting": "none",  # the same widths at every resolution, so that one layout fits all files
    **dict.fromkeys(("figure.dpi", "savefig.dpi"), 150),
    "svg.fonttype": "none",
    "svg.hashsalt": "marginbench",
}


@contextmanager
def applied() -> Iterator[None]:
    """This style on top of matplotlib's own defaults, whatever the user has set; theirs come back afterwards."""
    with matplotlib.style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a label in a script that the font lacks
        yield


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A function that draws a figure, in this style."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with applied():
            return draw(*args, **kwargs)

    return in_style


@dataclass(frozen=True)
class Look:
    """A loss's colour, dashes and marker; no two of 28 rows have both colour and dashes in common."""

    colour: str
    dashes: Any
    marker: str

    @property
    def line(self) -> dict[str, Any]:
        """What a line is drawn with."""
        return {"color": self.colour, "linestyle": self.dashes, "marker": self.marker, "markersize": 4}


def looks(labels: Iterable[str], baseline: str, names: Mapping[str, str] | None = None) -> dict[str, Look]:
    """A look for each row. A loss has the same one in the pictures of every experiment, by its place among all losses;
    further rows of the same loss take the next free ones. The baseline is black. `names` gives labels' losses."""
    known = {name: _place(number) for number, name in enumerate(losses.names())}
    found: dict[str, Look] = {}
    free = list(range(DIFFERENT))
    for label in labels:
        if label != baseline:
            free = free or list(range(DIFFERENT))
            wanted = known.get((names or {}).get(label, label), free[0])
            place = next((one for one in free if one >= wanted), free[0])
            free.remove(place)
            found[label] = Look(
                COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)], MARKERS[place % len(MARKERS)]
            )
    return {**found, baseline: Look(INK, "-", "o")}


def _place(number: int) -> int:
    """The place of a loss among the looks: its neighbours in the alphabet, and losses seven apart, differ in colour."""
    block, within = divmod(number, len(COLOURS))
    return (8 * within + 9 * block) % DIFFERENT


def blank(width: float = WIDTH, height: float = 3.5) -> Figure:
    """A figure that belongs to no window and no notebook."""
    return Figure(figsize=(width, height), layout="constrained")


def panels(
    count: int, height: float, most_columns: int = 4, width: float = WIDTH, **sharing: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels; `height` is that of a row, in inches."""
    columns = math.ceil(count / math.ceil(count / most_columns))  # fewer where that leaves fewer gaps in as many rows
    rows = math.ceil(count / columns)
    figure = blank(width, max(rows * height + 0.4, LOWEST))
    grid = figure.subplots(rows, columns, squeeze=False, **sharing)
    axes = list(grid.flat)
    for empty in axes[count:]:
        empty.remove()
    for above in axes[max(count - columns, 0) : count]:
        above.tick_params(labelbottom=True)  # the lowest panel of its column
    return figure, axes[:count]


def loss_panels(losses: Iterable[str], height: float, **sharing: Any) -> tuple[Figure, dict[str, Axes]]:
    """A panel for each loss, under its name."""
    names = short_names(losses)
    figure, axes = panels(len(names), height, **sharing)
    for panel, name in zip(axes, names.values(), strict=True):
        panel.set_title(wrapped(name, 28))
    return figure, dict(zip(names, axes, strict=True))


def dataset_panels(
    frame: pd.DataFrame, height: float, most_columns: int, by: Sequence[str] = ("dataset",), **sharing: Any
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """A panel for each dataset of a frame (and what else `by` names), under the dataset's name, with its rows."""
    parts = sorted((rows for _, rows in frame.groupby(list(by), sort=False)), key=lambda rows: in_order(_first(rows)))
    figure, axes = panels(len(parts), height, most_columns, **sharing)
    for panel, rows in zip(axes, parts, strict=True):
        panel.set_title(wrapped(_first(rows), {2: 40, 3: 32}[most_columns]))
    return figure, list(zip(axes, parts, strict=True))


def _first(rows: pd.DataFrame) -> str:
    return str(rows["dataset"].iloc[0])


def in_order(dataset: str) -> tuple[bool, Any]:
    """What sorts datasets in natural order, and all of them together last."""
    return dataset == ALL_DATASETS, natural_key(dataset)


def short(label: str, width: int = 24) -> str:
    """A label on one line; the middle of a long one is left out, since settings stand at its end."""
    text = " ".join(visible(label).split())
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


def short_names(labels: Iterable[str], width: int = 24) -> dict[str, str]:
    """Labels shortened; those that would be equal are numbered."""
    found: dict[str, str] = {}
    for label in labels:
        name, number = short(label, width), 1
        while name in found.values():
            number += 1
            name = f"{short(label, width - 3)} ({number})"
        found[label] = name
    return found


def wrapped(text: str, width: int, lines: int = 3) -> str:
    """A title on a few lines."""
    return textwrap.fill(visible(text), width, max_lines=lines, placeholder=" …", break_long_words=True)


def spread(wanted: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Positions from 0 to 1 in the order of the wanted ones and as near to them as possible, at least `gap` apart."""
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(order))
    room = max(1.0 - gap * (len(order) - 1), 0.0)
    positions = np.empty(len(order))
    positions[order] = np.clip(isotonic_regression(np.asarray(wanted)[order] - steps), 0.0, room) + steps
    return positions


def label_at_right(
    axes: Axes,
    points: Mapping[str, tuple[float, float]],
    gap: float,
    colours: Mapping[str, str] | None = None,
    highest: float = 1.0,
) -> None:
    """Names beside the panel, none over another, each with a thin line to its point. Set the limits before.
    `gap` and `highest` are shares of the panel's height: between two names, and where the topmost may be."""
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # fixed, since the lines end at places in the panel
    to_panel = axes.transScale + axes.transLimits
    at = {name: to_panel.transform(point) for name, point in points.items()}
    heights = highest * spread([float(place[1]) / highest for place in at.values()], gap / highest)
    for (name, place), height in zip(at.items(), heights, strict=True):
        colour = (colours or {}).get(name, GREY)
        line = {"arrowstyle": "-", "relpos": (0.0, 0.5), "color": colour, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 2}
        label = axes.annotate(name, tuple(place), (1.06, height), "axes fraction", "axes fraction", arrowprops=line)
        label.set(fontsize=SMALL, va="center", annotation_clip=False)
