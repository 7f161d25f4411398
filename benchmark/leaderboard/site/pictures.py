"""A loss's pictures: what it asks for, over the angle, and what its embeddings look like."""

from collections.abc import Iterator, Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

import datasets
import losses
from benchmark.leaderboard.entries import Entry, Result
from benchmark.leaderboard.make_entry import stored_run
from benchmark.leaderboard.site.loss_page import is_here
from benchmark.leaderboard.standings import Board
from benchmark.pages import Drawn, NotDrawn
from benchmark.plots import as_png, tsne
from benchmark.plots._style import GREY, Look, looks, panels, short, styled
from benchmark.plots.loss_shapes import ANGLES, Shape, measure, of_run
from benchmark.store import Run, Store

CURVES = "Target logit and gradient"
MAPS = "Maps of the embeddings"
LARGEST_WEIGHT = 10**8  # numbers: an entry's file says how many classes there were
QUANTITIES = {"logit": "target logit − logit of the others", "pull": "gradient ∂L/∂θ, per radian"}


def pictures(entry: Entry, board: Board, store: Store) -> Iterator[Drawn | NotDrawn]:
    """Curves on every dataset, and one map for each; what cannot be drawn comes with the reason."""
    for result in entry.results:
        yield _curves(entry, result, board, store)
    yield _maps(entry, store)


def _curves(entry: Entry, result: Result, board: Board, store: Store) -> Drawn | NotDrawn:
    title = f"{CURVES}, {result.label}"
    shapes = {}
    for label in dict.fromkeys([entry.label, board.baseline]):
        try:
            shape = _shape(board.entries[label], result.label, store) if label in board.entries else None
        except Exception as problem:  # a plug-in's own code, on settings that a file gives
            return NotDrawn(title, f"{label} could not be drawn: {type(problem).__name__}: {problem}")
        if shape is not None:
            shapes[label] = shape
    if entry.label not in shapes:
        return NotDrawn(title, "the loss that this entry was made with is not among the losses here")
    others = [label for label in shapes if label != entry.label]
    words = (
        "Over the angle θ between an embedding and its class: by how much the target's logit is above the others', "
        f"and how hard the loss pulls. {_state(entry, result, store)} All other classes are at right angles."
    )
    words += f" Dashed: {others[0]}." if others else ""
    figure = draw_curves(shapes, looks([*shapes], board.baseline))
    return _drawn(f"curves-{result.label}", title, words, figure)


def _state(entry: Entry, result: Result, store: Store) -> str:
    run = _first_run(entry, result.label, store)
    if run is None:
        return "The loss is as it starts, with embeddings and weights of length 1."
    return f"What the loss adapts, and the lengths, are as training of seed {run.cell['cell']['seed']} left them."


def _shape(entry: Entry, label: str, store: Store) -> Shape | None:
    """As training left it where the run is here, as it starts elsewhere; None without its source or class count."""
    if not is_here(entry):
        return None
    run = _first_run(entry, label, store)
    if run is not None:
        return of_run(run)
    result = next((one for one in entry.results if one.label == label), None)
    size = None if result is None else datasets.training_size(result.dataset)
    if result is None or size is None or size.classes * result.dim > LARGEST_WEIGHT:
        return None
    return measure(losses.create(entry.loss, num_classes=size.classes, dim=max(3, result.dim), **entry.hyper))


def _first_run(entry: Entry, label: str, store: Store) -> Run | None:
    """The stored run with the lowest seed that did not diverge: nothing is picked by how it looks."""
    runs = [run for result in entry.results if result.label == label for run in result.runs]
    sound = sorted((run.seed, run.cell) for run in runs if run.diverged_at is None)
    found = (stored_run(store, cell) for _, cell in sound)
    return next((run for run in found if run is not None), None)


@styled
def draw_curves(shapes: Mapping[str, Shape], shown_as: Mapping[str, Look]) -> Figure:
    """Target logit and gradient side by side; the first loss in colour, the baseline dashed."""
    kept = [name for name in QUANTITIES if any(getattr(shape, name) is not None for shape in shapes.values())]
    drawn, axes = panels(len(kept), 2.6, most_columns=2, sharex=True)
    for panel, quantity in zip(axes, kept, strict=True):
        for place, (label, shape) in enumerate(shapes.items()):
            values = getattr(shape, quantity)
            if values is not None:
                dashes = "--" if place else "-"
                panel.plot(
                    np.degrees(ANGLES), values, dashes, color=shown_as[label].colour, lw=1.8 - place, label=short(label)
                )
        panel.axhline(0.0, color=GREY, linewidth=0.6)
        panel.set(xlim=(0, 180), xlabel="angle θ, degrees", ylabel=QUANTITIES[quantity])
        panel.xaxis.set_major_locator(MultipleLocator(30))
    if len(shapes) > 1:
        axes[0].legend(loc="best")
    return drawn


def _maps(entry: Entry, store: Store) -> Drawn | NotDrawn:
    maps = {}
    for result in entry.results:
        run = _first_run(entry, result.label, store)
        found = None if run is None else tsne.of_run(run)
        if found is not None:
            maps[result.label] = found
    if not maps:
        return NotDrawn(MAPS, "the embeddings are not on the machine that made this site")
    words = (
        "t-SNE of the directions of test images of at most ten classes, from the lowest seed. Neighbours in a map are "
        "neighbours among the embeddings; distances between groups, and their sizes, mean nothing."
    )
    return _drawn("maps", MAPS, words, tsne.figure(maps))


def _drawn(name: str, title: str, caption: str, figure: Figure) -> Drawn:
    return Drawn(name, title, caption, section="", png=as_png(figure), svg=b"")  # a page holds the PNG alone
