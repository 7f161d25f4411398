"""Three-dimensional embeddings on the sphere, with class weights as rays."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from benchmark.plots import Context, Drawn, Floats, plot
from benchmark.plots._style import GREY, INK, OF_CLASSES, PALE, SMALL, loss_panels, styled
from benchmark.plots.circle import LABELLED, Embedded, of_each_dataset
from benchmark.text import counted

VIEWS = 1000  # tried: the one that shows the classes farthest from each other is taken
BEHIND = 0.7  # how much dots on the far side fade into the paper
TITLE = "Three-dimensional embeddings"


@plot(TITLE, "embeddings", place=2)
def draw(context: Context) -> Drawn:
    return of_each_dataset(context, 3, "sphere", TITLE, figure, caption)


@styled
def figure(found: Mapping[str, Embedded]) -> Figure:
    """A panel for each loss, the sphere seen from far away; what is on the far side is pale."""
    drawn, axes = loss_panels(found, 2.05)
    for loss, panel in axes.items():
        _sphere(panel, found[loss])
    return drawn


def _sphere(axes: Axes, points: Embedded) -> None:
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    axes.set_axis_off()
    classes = np.unique(points.labels)
    colours = {int(label): OF_CLASSES[i % len(OF_CLASSES)] for i, label in enumerate(classes)}
    centres = np.array([points.directions[points.labels == label].mean(axis=0) for label in classes])
    turn = best_view(centres)
    _outline(axes, turn)
    seen = points.directions @ turn.T
    shades = np.array([to_rgb(colours[int(label)]) for label in points.labels])
    shades[seen[:, 2] < 0] = (1.0 - BEHIND) * shades[seen[:, 2] < 0] + BEHIND
    nearest_last = np.argsort(seen[:, 2], kind="stable")
    x, y, _ = seen[nearest_last].T
    axes.scatter(x, y, c=shades[nearest_last], s=6, linewidths=0, rasterized=True, zorder=3)
    if points.weight is not None:
        _rays(axes, points.weight @ turn.T, colours)


def best_view(centres: Floats) -> Floats:
    """The rotation, of a fixed set, under which the two classes that look nearest to each other are furthest apart."""
    random = np.random.default_rng(0)
    turns = np.linalg.qr(random.standard_normal((VIEWS, 3, 3)))[0]
    flat = np.einsum("vij,cj->vci", turns[:, :2], centres)
    apart = np.linalg.norm(flat[:, :, None] - flat[:, None], axis=3)
    apart[:, np.arange(len(centres)), np.arange(len(centres))] = np.inf
    chosen: Floats = turns[int(apart.min(axis=(1, 2)).argmax())]
    return chosen


def _outline(axes: Axes, turn: Floats) -> None:
    """The sphere's edge and three great circles, dotted on the far side."""
    axes.add_patch(Circle((0.0, 0.0), 1.0, facecolor="#fafafa", edgecolor=GREY, linewidth=0.8))
    around = np.linspace(0.0, 2 * np.pi, 121)
    for i in range(3):
        ring = np.zeros((len(around), 3))
        ring[:, i], ring[:, (i + 1) % 3] = np.cos(around), np.sin(around)
        seen = ring @ turn.T
        for near, style in ((seen[:, 2] >= 0, "-"), (seen[:, 2] < 0, ":")):
            axes.plot(np.where(near, seen[:, 0], np.nan), np.where(near, seen[:, 1], np.nan), style, color=PALE, lw=0.6)


def _rays(axes: Axes, weight: Floats, colours: Mapping[int, str]) -> None:
    for label, (x, y, depth) in enumerate(weight):
        colour, near = colours.get(label, GREY), depth >= 0
        axes.plot([0.0, 1.12 * x], [0.0, 1.12 * y], color=colour, linewidth=1.3 if near else 0.7,
                  linestyle="-" if near else ":", zorder=4 if near else 2)  # fmt: skip
        if len(weight) <= LABELLED and (x or y or depth):
            axes.text(1.2 * x, 1.2 * y, str(label), fontsize=SMALL, color=INK if near else GREY, ha="center",
                      va="center", zorder=5)  # fmt: skip


def caption(found: Mapping[str, Embedded], seeds: str) -> str:
    """How to read the picture."""
    first = next(iter(found.values()))
    rays = "with class weights as rays" if first.weight is not None else (
        "without rays, since test identities have no class weights"
    )  # fmt: skip
    return (
        f"Directions of the test images' embeddings, {counted(len(np.unique(first.labels)), 'class')}, "
        f"{seeds}, {rays}. The far side of the sphere is pale and dotted; "
        "each panel is turned so that its classes hide each other least."
    )
