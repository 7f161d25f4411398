"""The runner's throughput on whole cells against the bare training step and against the loop people usually write.

python -m perf.runner [--quick]
"""

import multiprocessing
import queue
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import datasets
from benchmark.cell import Cell, Recipe
from benchmark.engine import Job, plan, run_local
from benchmark.engine.local import one_thread_and_kept_memory
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.store import Store
from perf._alone import alone
from perf._model import Measured, Part, at_least
from perf._timing import spread
from perf.training import DIM, bare_step, usual_loop

TITLE = "Grid throughput"
HOW = (
    "Training images a second of the runner on two workers, from the first cell's start to the last one's end: the "
    "workers' own start, batches, training, embedding, all metrics, handing over and storing. The bare step is "
    "forward, backward and optimiser on normalised batches in memory, in two processes at once; it does not augment, "
    "so neither does the runner beside it. The usual loop is pytorch-metric-learning's ArcFaceLoss with DataLoader "
    "and torchvision's transforms, shifts among them, sequential, with torch's own threads on both cores; the runner "
    "beside it shifts as well. All see the same net and images."
)
WORKERS = 2
BARS = {
    "runner / bare step": at_least(0.92),
    "runner, shifting / usual loop": at_least(3.0),
    "runner, short cells / bare step": None,
}
EPOCHS, BARE_EPOCHS, ROUNDS = 40, 12, 2  # cells of 40 s or so: embedding and scoring cost each about a second
CELLS = 4  # two for each worker, which lives through many
SHORT_EPOCHS, SHORT_CELLS = 5, 8  # as long as those of `default`
LENGTHS = {
    "runner": f", {CELLS} cells of {EPOCHS} epochs",
    "runner, shifting": f", {WORKERS} cells of {EPOCHS} epochs",
    "runner, short cells": f", {SHORT_CELLS} cells of {SHORT_EPOCHS} epochs",
}
Paces = dict[str, Callable[[], float]]


def measure(quick: bool) -> Part:
    dataset, paces, rounds = ("digits", quick_paces(), 1) if quick else ("glyphs", all_paces(), ROUNDS)
    found: dict[str, list[float]] = {name: [] for name in paces}
    for _ in range(rounds):
        for name, pace in paces.items():
            found[name].append(pace())
    part = Part("runner", TITLE, HOW)
    for name, values in found.items():
        one = spread(values)
        at = f"{dataset}, convnet{'' if quick else LENGTHS.get(name, '')}"
        part.measured.append(Measured(name, at, one.value, "images/s", one.low, one.high))
    for what, bar in BARS.items():
        above, below = what.split(" / ")
        if above in found and below in found:
            one = spread([a / b for a, b in zip(found[above], found[below], strict=True)])
            at = f"{dataset}, convnet{'' if quick else LENGTHS.get(above, '')}"
            part.measured.append(Measured(what, at, one.value, "×", one.low, one.high, bar, judged=not quick))
    return part


def all_paces() -> Paces:
    return {
        "bare step": lambda: bare_pace(BARE_EPOCHS, "glyphs"),
        "runner": lambda: runner_pace(EPOCHS, "none", "glyphs", CELLS),
        "runner, shifting": lambda: runner_pace(EPOCHS, "shift", "glyphs"),
        "usual loop": lambda: usual_pace("glyphs"),
        "runner, short cells": lambda: runner_pace(SHORT_EPOCHS, "none", "glyphs", SHORT_CELLS),
    }


def quick_paces() -> Paces:
    """One of each kind."""
    return {
        "bare step": lambda: bare_pace(1, "digits"),
        "runner": lambda: runner_pace(1, "none", "digits"),
        "usual loop": lambda: usual_pace("digits"),
    }


class Watch(Progress):
    """Notes when the first cell begins and the last one ends."""

    first = last = 0.0

    def running(self, names: list[str]) -> None:
        self.first = self.first or time.perf_counter()

    def finished(self, job: Job) -> None:
        self.last = time.perf_counter()

    def tick(self) -> None:
        pass


def arcface_cell(seed: int, epochs: int, augmentation: str, dataset: str) -> Cell:
    recipe = Recipe(epochs=epochs, batch=128, augmentation=augmentation)
    data = {**datasets.resolve(dataset), "seed": 0}
    return Cell(data, "convnet", DIM, recipe, "arcface", {}, seed, "arcface", dataset)


def run_cells(cells: list[Cell], folder: Path) -> tuple[list[Job], float]:
    """Runs them all; the seconds from the first one's start to the last one's end."""
    store = Store(folder, "perf")
    jobs = plan(cells, store, None).jobs
    workers = min(WORKERS, len(jobs))
    watch = Watch(jobs, workers)
    outcome = run_local(jobs, store, Setting(None, "cpu", (), False), workers, watch)
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    if len(outcome.done) != len(cells):
        raise RuntimeError(f"{len(cells) - len(outcome.done)} of {len(cells)} cells have no result: {outcome}")
    return jobs, watch.last - watch.first


def runner_pace(epochs: int, augmentation: str, dataset: str, count: int = WORKERS) -> float:
    """Training images a second, over both workers."""
    with tempfile.TemporaryDirectory() as folder:
        cells = [arcface_cell(seed, epochs, augmentation, dataset) for seed in range(count)]
        jobs, seconds = run_cells(cells, Path(folder))
    return sum(job.images for job in jobs) / seconds


def _bare(epochs: int, dataset: str, answers: Any, both: Any) -> None:
    torch.set_num_threads(1)
    data = datasets.load(dataset)
    run = bare_step(arcface_cell(0, epochs, "none", dataset), data)
    run()
    both.wait()
    begin = time.perf_counter()
    for _ in range(epochs):
        run()
    answers.put(epochs * len(data.train) / (time.perf_counter() - begin))


def bare_pace(epochs: int, dataset: str) -> float:
    """Images a second of two processes that do nothing but step."""
    context = multiprocessing.get_context("spawn")
    answers, both = context.Queue(), context.Barrier(WORKERS)
    processes = [context.Process(target=_bare, args=(epochs, dataset, answers, both)) for _ in range(WORKERS)]
    with one_thread_and_kept_memory():
        for process in processes:
            process.start()
    try:
        return sum(_answer(answers, processes) for _ in processes)
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _answer(answers: Any, processes: list[Any]) -> float:
    """The next answer; an error where a process ends without one."""
    while True:
        try:
            return float(answers.get(timeout=1.0))
        except queue.Empty:
            codes = [process.exitcode for process in processes]
            if any(code not in (None, 0) for code in codes):
                raise RuntimeError(f"a process of the bare step ended with exit codes {codes}") from None


def usual_pace(dataset: str) -> float:
    data = datasets.load(dataset)
    run = usual_loop(arcface_cell(0, 1, "shift", dataset), data)
    begin = time.perf_counter()
    run()
    return len(data.train) / (time.perf_counter() - begin)


if __name__ == "__main__":
    alone(measure)
