"""How long cells take: roughly, or from cells that have been run."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from json import dumps
from statistics import median

import datasets
from benchmark import backbones
from benchmark.cell import Cell
from benchmark.text import duration

USUAL_PIXELS = 28 * 28
MOST_GAIN = 4.0
"""Below a quarter of the usual pixels it is no longer the pixels that take the time."""

Work = tuple[str, str]


def estimate_seconds(
    cells: Iterable[Cell],
    images_per_second: Mapping[str, float] | None = None,
    history: Iterable[tuple[Cell, float]] = (),
) -> list[float | None]:
    """Seconds of each cell on one core; None where nothing tells.

    `images_per_second` replaces throughputs that backbones declare, by name. `history` gives cells that have been
    run with their seconds; it comes first, for cells of the same dataset and backbone.
    """
    measured = images_per_second or {}
    past = _seconds_per_epoch(history)
    per_epoch: dict[Work, float | None] = {}
    found: list[float | None] = []
    for cell in cells:
        work = _work(cell)
        if work not in per_epoch:
            per_epoch[work] = past.get(work) or _from_size(cell, measured.get(cell.backbone))
        seconds = per_epoch[work]
        found.append(None if seconds is None else seconds * cell.recipe.epochs)
    return found


def cell_line(cell: Cell, seconds: float | None) -> str:
    """`digits · convnet/64 · arcface s=16 m=0.3 · seed 0 · ~1.2 s`."""
    return f"{cell.title} · {in_words([seconds])}"


def in_words(seconds: Sequence[float | None]) -> str:
    """The sum of some estimates: `~3 min`, `unknown`, or `~3 min and 2 of unknown time`."""
    known = [one for one in seconds if one is not None]
    unknown = len(seconds) - len(known)
    if not known:
        return "unknown" if unknown else "~0 s"
    total = sum(known)
    about = duration(total) if 0 < total < 1 else f"~{duration(total)}"
    return about + (f" and {unknown} of unknown time" if unknown else "")


def _work(cell: Cell) -> Work:
    return dumps(cell.dataset, sort_keys=True), cell.backbone


def _seconds_per_epoch(history: Iterable[tuple[Cell, float]]) -> dict[Work, float]:
    found: dict[Work, list[float]] = defaultdict(list)
    for cell, seconds in history:
        found[_work(cell)].append(seconds / cell.recipe.epochs)
    return {work: median(each) for work, each in found.items()}


def _from_size(cell: Cell, images_per_second: float | None) -> float | None:
    size = datasets.training_size(cell.dataset)
    images_per_second = images_per_second or backbones.get(cell.backbone).images_per_second
    if size is None or images_per_second is None:
        return None
    return size.images / (images_per_second * min(USUAL_PIXELS / size.pixels, MOST_GAIN))
