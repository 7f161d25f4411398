"""The runner's throughput on whole cells against the bare training step and against the loop people usually write.

    python -m perf.runner                # cells of a minute; about eight minutes in all
    python -m perf.runner --epochs 20    # shorter cells: embedding and scoring, a second or so a cell, weigh more

The runner's time goes from the first cell's start to the last cell's end on two workers: batches, training, embedding,
all metrics, handing over and storing. The bare step is forward, backward and optimiser on normalised batches in
memory, in two processes at once; it does not augment, so neither does the runner beside it. The usual loop is
pytorch-metric-learning's ArcFaceLoss with DataLoader and torchvision's transforms, shifts among them, sequential, with
torch's own threads on both cores; the runner beside it shifts as well. All see the same net and images.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import torch

import datasets
from benchmark.cell import Cell, Recipe
from benchmark.engine import Job, plan, run_local
from benchmark.engine.local import one_thread_and_kept_memory
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.store import Store
from perf.training import DIM, bare_step, usual_loop

WORKERS = 2
BARS = {"runner / bare step": 0.92, "runner, shifting / usual loop": 3.0}


class Watch(Progress):
    """Notes when the first cell begins and the last one ends."""

    first = last = 0.0

    def running(self, names: list[str]) -> None:
        self.first = self.first or time.perf_counter()

    def finished(self, job: Job) -> None:
        self.last = time.perf_counter()

    def tick(self) -> None:
        pass


def cell(seed: int, epochs: int, augmentation: str = "none") -> Cell:
    dataset = {**datasets.resolve("glyphs"), "seed": 0}
    recipe = Recipe(epochs=epochs, batch=128, augmentation=augmentation)
    return Cell(dataset, "convnet", DIM, recipe, "arcface", {}, seed, "arcface", "glyphs")


def runner_pace(cells: int, epochs: int, augmentation: str) -> float:
    """Training images a second, over both workers."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), "perf")
        jobs = plan([cell(seed, epochs, augmentation) for seed in range(cells)], store, None).jobs
        watch = Watch(jobs, WORKERS)
        outcome = run_local(jobs, store, Setting(None, "cpu", (), False), WORKERS, watch)
        assert len(outcome.done) == cells
    return sum(job.images for job in jobs) / (watch.last - watch.first)


def _bare(epochs: int, answers: "multiprocessing.Queue[float]", both: "multiprocessing.Barrier") -> None:  # type: ignore[valid-type]
    torch.set_num_threads(1)
    data = datasets.load("glyphs")
    run = bare_step(cell(0, epochs), data)
    run()
    both.wait()  # type: ignore[attr-defined]
    begin = time.perf_counter()
    for _ in range(epochs):
        run()
    answers.put(epochs * len(data.train) / (time.perf_counter() - begin))


def bare_pace(epochs: int) -> float:
    """Images a second of two processes that do nothing but step."""
    context = multiprocessing.get_context("spawn")
    answers, both = context.Queue(), context.Barrier(WORKERS)
    processes = [context.Process(target=_bare, args=(epochs, answers, both)) for _ in range(WORKERS)]
    with one_thread_and_kept_memory():
        for process in processes:
            process.start()
    pace = sum(answers.get() for _ in processes)
    for process in processes:
        process.join()
    return pace


def usual_pace() -> float:
    data = datasets.load("glyphs")
    run = usual_loop(cell(0, 1), data)
    begin = time.perf_counter()
    run()
    return len(data.train) / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    paces: dict[str, list[float]] = {"bare step": [], "runner": [], "runner, shifting": [], "usual loop": []}
    for _ in range(options.rounds):
        paces["bare step"].append(bare_pace(options.epochs))
        paces["runner"].append(runner_pace(options.cells, options.epochs, "none"))
        paces["runner, shifting"].append(runner_pace(options.cells, options.epochs, "shift"))
        paces["usual loop"].append(usual_pace())
    for name, found in paces.items():
        print(f"{name:>16}: " + ", ".join(f"{pace:,.0f}" for pace in found) + " training images/s")
    missed = False
    for what, bar in BARS.items():
        one, other = what.split(" / ")
        ratio = sum(paces[one]) / sum(paces[other])
        missed |= ratio < bar
        print(f"{what}: {ratio:.2f} (bar: ≥ {bar:g}, {'met' if ratio >= bar else 'MISSED'})")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
