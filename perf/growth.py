"""How time grows with cells, classes, embeddings and stored runs.

python -m perf.growth [--quick]
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import datasets
from benchmark.cell import Cell
from benchmark.engine import plan
from benchmark.metrics import all_pairs_verification
from benchmark.recipe import Recipe
from benchmark.results import tidy
from benchmark.store import Store
from perf import _contenders as contenders
from perf._alone import alone
from perf._growth import growth
from perf._model import Curve, Part
from perf._process import in_own_process
from perf._timing import spread
from perf.geometry import prepared
from perf.runner import run_cells
from perf.statistics import steps as statistics_of
from perf.statistics import stored_runs
from perf.verification import embeddings

TITLE = "Growth"
HOW = (
    "Median over three rounds, sizes in turns; one round of cells and of pairs. Processor seconds of one process with "
    "one thread, which a busy machine hardly changes; running cells is wall-clock time on two workers."
)
BATCH, DIM = 64, 64
Seconds = Callable[[int], float]


@dataclass(frozen=True)
class Grows:
    """Something whose time is taken at several sizes."""

    what: str
    size: str  # what the sizes count
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    expected: float  # the exponent on paper
    seconds: Seconds
    rounds: int = 3


def measure(quick: bool) -> Part:
    part = Part("growth", TITLE, HOW)
    found = in_own_process(seconds_of_all, quick)
    for one, seconds in zip(GROWING, found, strict=True):
        x, y = tuple(float(size) for size in _sizes(one, quick)), tuple(seconds)
        part.curves.append(Curve("growth", one.what, one.size, "s", x, y, growth(x, y), one.expected))
    return part


def seconds_of_all(quick: bool) -> list[list[float]]:
    """For everything that grows, the median seconds at each of its sizes."""
    found = []
    for one in GROWING:
        rounds = [[one.seconds(size) for size in _sizes(one, quick)] for _ in range(1 if quick else one.rounds)]
        found.append([spread(times).value for times in zip(*rounds, strict=True)])
    return found


def _sizes(one: Grows, quick: bool) -> tuple[int, ...]:
    return one.quick if quick else one.sizes


def _time_of(run: Callable[[], object]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def _digits_cells(count: int) -> list[Cell]:
    few = datasets.resolve("digits", wrappers=[{"subset": {"classes": 5, "per_class": 20}}])
    recipe = Recipe(epochs=1, batch=64)
    return [
        Cell({**few, "seed": 0}, "convnet", 16, recipe, "arcface", {}, seed, "arcface", "digits")
        for seed in range(count)
    ]


def running(cells: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return run_cells(_digits_cells(cells), Path(folder))[1]


def planning(cells: int) -> float:
    wanted = _digits_cells(cells)
    with tempfile.TemporaryDirectory() as folder:
        return _time_of(lambda: plan(wanted, Store(Path(folder), "perf"), None))


def stepping(classes: int) -> float:
    x, labels, _ = contenders.inputs(2, DIM, BATCH)
    run = contenders.step(contenders.arcface(classes, DIM), x, labels % classes)
    run()
    return spread([_time_of(run) for _ in range(5)]).value


def angles(classes: int) -> float:
    return _time_of(prepared(classes))


def pairs(count: int) -> float:
    x, labels = embeddings(count)
    return _time_of(lambda: all_pairs_verification(x, labels))


@cache
def _one_real_run() -> tuple[dict[str, bytes], dict[str, Any]]:
    """Its files, and what is said of it."""
    with tempfile.TemporaryDirectory() as folder:
        (job,), _ = run_cells(_digits_cells(1), Path(folder))
        run = Store(Path(folder), "perf").load(job.id)
        files = {name: (run.folder / name).read_bytes() for name in run.cell["checksums"]}
        return files, {key: value for key, value in run.cell.items() if key != "checksums"}


def collecting(runs: int) -> float:
    """Reads copies of a real run under other ids and seeds, and makes the tidy table of them."""
    files, about = _one_real_run()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), "perf")
        for seed in range(runs):
            store.save(f"{seed:016x}", files, {**about, "cell": {**about["cell"], "seed": seed}})
        return _time_of(lambda: tidy(store.load_all()[0]))


def judging(runs: int) -> float:
    results, jackknife = stored_runs(20, runs // 200, 10, identities=200)
    return sum(_time_of(step) for step in statistics_of(results, jackknife).values())


GROWING = (
    Grows("running cells", "cells", (16, 32, 64, 128, 256), (2, 4, 6), 1.0, running, 1),
    Grows("planning cells", "cells", (100, 300, 1_000, 3_000), (5, 10, 20), 1.0, planning),
    Grows("a head's step", "classes", (10_000, 30_000, 100_000, 300_000, 1_000_000), (100, 300, 1_000), 1.0, stepping),
    Grows("all angles between classes", "classes", (2_000, 4_000, 8_000, 16_000), (100, 200, 400), 2.0, angles),
    Grows("all-pairs verification", "embeddings", (10_000, 20_000, 40_000, 80_000), (100, 200, 400), 2.0, pairs, 1),
    Grows("collecting stored runs", "stored runs", (50, 100, 200, 400), (2, 4, 8), 1.0, collecting),
    Grows("statistics of stored runs", "stored runs", (600, 1_200, 2_400, 5_000), (200, 400, 600), 1.0, judging),
)


if __name__ == "__main__":
    alone(measure)
