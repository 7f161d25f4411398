"""Two-dimensional embeddings on the circle, with class weights as rays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import NDArray

from benchmark.metrics._inputs import unit_rows
from benchmark.plots import Context, Drawn, Floats, NothingToDrawError, Picture, Skipped, file_name, plot
from benchmark.plots._style import GREY, INK, OF_CLASSES, SMALL, loss_panels, styled
from benchmark.text import counted

BINS = 180  # of the circle, two degrees each
TALLEST = 0.55  # of the bars that stand on the circle of radius 1
LABELLED = 12  # classes up to which they are numbered
TITLE = "Two-dimensional embeddings"


@dataclass(frozen=True)
class Embedded:
    """Directions of one run's test embeddings."""

    directions: Floats  # N×D unit rows
    labels: NDArray[np.int64]
    weight: Floats | None  # C×D unit rows where the test classes are the training classes


@plot(TITLE, "embeddings", place=1)
def draw(context: Context) -> Drawn:
    return of_each_dataset(context, 2, "circle", TITLE, figure, caption)


def of_each_dataset(
    context: Context,
    dim: int,
    kind: str,
    title: str,
    drawing: Callable[[Mapping[str, Embedded]], Figure],
    wording: Callable[[Mapping[str, Embedded], str], str],
) -> Drawn:
    """A picture for every dataset whose embeddings have so many dimensions, or why there is none."""
    has_dim = (context.table["dim"] == dim).groupby(context.table["dataset"]).all()
    if not has_dim.any():
        raise NothingToDrawError(f"no run has embeddings of {dim} dimensions; the experiment `low-dim` trains some")
    for dataset in (dataset for dataset in context.datasets if has_dim[dataset]):
        name, full_title = file_name(kind, dataset), f"{title}, {dataset}"
        found = embedded(context, dataset)
        if not found:
            yield Skipped(name, full_title, "every run diverged", "embeddings")
            continue
        words = wording(found, context.first_seeds(dataset)) + context.without_a_run(dataset)
        yield Picture(name, full_title, words, drawing(found), "embeddings", finding(found))


def embedded(context: Context, dataset: str) -> dict[str, Embedded]:
    """Of every loss the run with the lowest seed."""
    found = {}
    for loss, _, run in context.first_runs(dataset):
        arrays = run.arrays("test/embeddings", "test/labels", "test/logits", "weight")
        if "test/embeddings" not in arrays:
            continue
        directions, kept = unit_rows(arrays["test/embeddings"])
        weight = unit_rows(arrays["weight"])[0] if "test/logits" in arrays else None
        found[loss] = Embedded(directions[kept], arrays["test/labels"].astype(np.int64)[kept], weight)
    return found


@styled
def figure(found: Mapping[str, Embedded]) -> Figure:
    """A panel for each loss: dots are test images, bars count them, rays are class weights."""
    drawn, axes = loss_panels(found, 2.05)
    for loss, panel in axes.items():
        _circle(panel, found[loss])
    return drawn


def _circle(axes: Axes, points: Embedded) -> None:
    axes.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal")
    axes.set_axis_off()
    axes.add_patch(Circle((0.0, 0.0), 1.0, fill=False, edgecolor=GREY, linewidth=0.6))
    classes = np.unique(points.labels)
    colours = {int(label): OF_CLASSES[i % len(OF_CLASSES)] for i, label in enumerate(classes)}
    angles = np.arctan2(points.directions[:, 1], points.directions[:, 0])
    edges = np.linspace(-np.pi, np.pi, BINS + 1)
    counts = {label: np.histogram(angles[points.labels == label], edges)[0] for label in colours}
    most = max(int(count.max(initial=0)) for count in counts.values()) or 1
    base = np.zeros(BINS)
    for label, count in counts.items():
        at = np.flatnonzero(count)
        _bars(axes, edges[at] + np.pi / BINS, base[at], TALLEST * count[at] / most, colours[label])
        base += TALLEST * count / most
    colour_of = [colours[int(label)] for label in points.labels]
    x, y = points.directions.T
    axes.scatter(x, y, c=colour_of, s=5, linewidths=0, rasterized=True, zorder=3)
    if points.weight is not None:
        _rays(axes, points.weight, colours)


def _bars(axes: Axes, angles: Floats, base: Floats, heights: Floats, colour: str) -> None:
    """Bars that stand on the circle."""
    outward = np.column_stack([np.cos(angles), np.sin(angles)])
    ends = np.stack([outward * (1.0 + base)[:, None], outward * (1.0 + base + heights)[:, None]], axis=1)
    axes.add_collection(LineCollection(list(ends), colors=colour, linewidths=1.6, capstyle="butt"))


def _rays(axes: Axes, weight: Floats, colours: Mapping[int, str]) -> None:
    for label, (x, y) in enumerate(weight):
        colour = colours.get(label, GREY)
        axes.plot([0.0, x], [0.0, y], color=colour, linewidth=1.2)
        if len(weight) <= LABELLED and (x or y):
            axes.text(0.72 * x, 0.72 * y, str(label), fontsize=SMALL, color=INK, ha="center", va="center",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip


def finding(found: Mapping[str, Embedded]) -> str:
    """The losses whose images lie nearest to, and farthest from, the centres of their classes."""
    spreads = {loss: _mean_angle(points) for loss, points in found.items()}
    ranked = sorted(spreads, key=lambda loss: spreads[loss])
    shown = [f"{spreads[loss]:.0f}° ({loss})" for loss in dict.fromkeys([ranked[0], ranked[-1]])]
    span = shown[0] if len(shown) == 1 else f"between {shown[0]} and {shown[1]}"
    return f"The mean angle of an image to the centre of its class is {span}."


def _mean_angle(points: Embedded) -> float:
    classes, places = np.unique(points.labels, return_inverse=True)
    centres = unit_rows(np.array([points.directions[points.labels == label].mean(axis=0) for label in classes]))[0]
    cosines = (points.directions * centres[places]).sum(axis=1)
    return float(np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).mean())


def caption(found: Mapping[str, Embedded], seeds: str) -> str:
    """How to read the picture."""
    first = next(iter(found.values()))
    rays = "the rays are the class weights" if first.weight is not None else (
        "there are no rays, since test identities have no class weights"
    )  # fmt: skip
    return (
        f"Directions of the test images' embeddings, {counted(len(np.unique(first.labels)), 'class')}, "
        f"{seeds}. Dots lie on the circle, the bars outside count them in steps of {360 // BINS} degrees, {rays}. "
        "Ideal are narrow, evenly spaced bars on their rays."
    )
