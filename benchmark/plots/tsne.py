"""t-SNE maps of embeddings that have too many dimensions to be drawn as they are."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from benchmark.metrics._inputs import unit_rows
from benchmark.plots import Context, Drawn, Floats, Picture, Skipped, file_name, plot
from benchmark.plots._style import GREY, MARKERS, OF_CLASSES, loss_panels, styled
from benchmark.store import Run
from benchmark.text import counted, listed

TITLE = "Maps of the embeddings"
CLASSES, IMAGES = 10, 20  # drawn in each panel: classes, and images of a class
MOST_PANELS = 12
STEPS = 300
FEWEST = 12  # points for a map


@dataclass(frozen=True)
class TsneMap:
    places: Floats  # N×2
    labels: NDArray[np.int64]


@plot(TITLE, "embeddings", place=3)
def draw(context: Context) -> Drawn:
    table = context.table
    for dataset in context.datasets:
        name, title = file_name("tsne", dataset), f"{TITLE}, {dataset}"
        if (table.loc[table["dataset"] == dataset, "dim"] <= 3).all():
            yield Skipped(name, title, "embeddings of two or three dimensions are drawn as they are", "embeddings")
            continue
        runs = _chosen(context, dataset)
        maps = {loss: found for loss, run in runs.items() if (found := of_run(run)) is not None}
        if not maps:
            yield Skipped(name, title, "no run has enough test embeddings; runs diverged or are missing", "embeddings")
            continue
        left_out = [loss for loss, _, _ in context.first_runs(dataset) if loss not in maps]
        words = caption(maps, context.first_seeds(dataset)) + context.without_a_run(dataset)
        words += f" Not drawn, to keep the picture small: {listed(left_out)}." if left_out else ""
        yield Picture(name, title, words, figure(maps), "embeddings", finding(maps))


def _chosen(context: Context, dataset: str) -> dict[str, Run]:
    """The losses to draw, in the experiment's order: all, or the baseline and the best ones."""
    runs = {loss: run for loss, _, run in context.first_runs(dataset)}
    standing = context.standing[context.standing["dataset"] == dataset]
    ranked = standing.sort_values("mean", ascending=context.column.lower_is_better, na_position="last")["loss"]
    kept = [loss for loss in dict.fromkeys([context.baseline, *ranked]) if loss in runs][:MOST_PANELS]
    return {loss: run for loss, run in runs.items() if loss in kept}


def of_run(run: Run) -> TsneMap | None:
    arrays = run.arrays("test/embeddings", "test/labels")
    return None if len(arrays) < 2 else place(arrays["test/embeddings"], arrays["test/labels"].astype(np.int64))


def place(embeddings: NDArray[np.generic], labels: NDArray[np.int64]) -> TsneMap | None:
    """A map of the first images of ten classes, spread evenly over all of them: the same images for every loss."""
    classes = np.unique(labels)
    classes = classes[np.linspace(0, len(classes) - 1, min(CLASSES, len(classes))).round().astype(int)]
    rows = np.concatenate([np.flatnonzero(labels == label)[:IMAGES] for label in classes] or [np.zeros(0, int)])
    unit, has_direction = unit_rows(embeddings[rows])
    unit, kept = unit[has_direction], labels[rows][has_direction]
    if len(unit) < FEWEST or np.ptp(unit, axis=0).max() < 1e-9:
        return None
    maker = TSNE(
        2, perplexity=min(20.0, (len(unit) - 1) / 3), init="pca", random_state=0, max_iter=STEPS, learning_rate="auto"
    )
    with threadpool_limits(1):  # more threads add up in another order
        return TsneMap(maker.fit_transform(unit).astype(np.float64), kept)


@styled
def figure(maps: Mapping[str, TsneMap]) -> Figure:
    """A panel for each loss; a class has one colour and marker in all of them."""
    drawn, axes = loss_panels(maps, 1.95)
    classes = list(dict.fromkeys(int(label) for found in maps.values() for label in found.labels))
    for loss, panel in axes.items():
        for i, label in enumerate(classes):
            dots = maps[loss].places[maps[loss].labels == label]
            colour, marker = OF_CLASSES[i % len(OF_CLASSES)], MARKERS[i % len(MARKERS)]
            panel.scatter(dots[:, 0], dots[:, 1], s=9, color=colour, marker=marker, linewidths=0, rasterized=True)
        panel.set(xticks=[], yticks=[])
        for spine in panel.spines.values():
            spine.set(visible=True, color=GREY, linewidth=0.5)
    return drawn


def caption(maps: Mapping[str, TsneMap], seeds: str) -> str:
    """How to read the picture."""
    first = next(iter(maps.values()))
    return (
        f"t-SNE of the directions of {len(first.labels)} test images of "
        f"{counted(len(np.unique(first.labels)), 'class')}, the same for every loss, {seeds}. Neighbours in a map "
        "are neighbours among the embeddings; distances between groups, and their sizes, mean nothing."
    )


def finding(maps: Mapping[str, TsneMap]) -> str:
    """How many of the images have an image of their own class as nearest neighbour in the map."""
    shares = {loss: own_neighbours(found) for loss, found in maps.items()}
    ranked = sorted(shares, key=lambda loss: shares[loss])
    shown = [f"{100 * shares[loss]:.0f} % ({loss})" for loss in dict.fromkeys([ranked[-1], ranked[0]])]
    span = shown[0] if len(shown) == 1 else f"between {shown[1]} and {shown[0]}"
    return f"Images whose nearest neighbour in the map is of their own class: {span}."


def own_neighbours(found: TsneMap) -> float:
    apart = np.linalg.norm(found.places[:, None] - found.places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return float((found.labels[apart.argmin(axis=1)] == found.labels).mean())
