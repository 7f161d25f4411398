"""How long cells take, roughly."""

from collections.abc import Iterable, Sequence
from json import dumps

import datasets
from benchmark import backbones
from benchmark.cell import Cell
from benchmark.text import duration

USUAL_PIXELS = 28 * 28
MOST_GAIN = 4.0
"""Below a quarter of the usual pixels it is no longer the pixels that take the time."""


def estimate_seconds(cells: Iterable[Cell]) -> list[float | None]:
    """Seconds of each cell on one core; None where the size of its data or its backbone's throughput is unknown."""
    per_epoch: dict[str, float | None] = {}
    found: list[float | None] = []
    for cell in cells:
        work = dumps([cell.dataset, cell.backbone], sort_keys=True)
        if work not in per_epoch:
            per_epoch[work] = _seconds_per_epoch(cell)
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


def _seconds_per_epoch(cell: Cell) -> float | None:
    size, images_per_second = datasets.training_size(cell.dataset), backbones.get(cell.backbone).images_per_second
    if size is None or images_per_second is None:
        return None
    return size.images / (images_per_second * min(USUAL_PIXELS / size.pixels, MOST_GAIN))
