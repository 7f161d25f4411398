"""The runner's throughput on whole cells against the bare training step and against the loop people usually write.

python -m perf.runner [--quick]
"""

import multiprocessing
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import datasets
from benchmark.cell import Cell
from benchmark.engine import Job, Work, plan, run_local
from benchmark.engine.local import one_thread_and_kept_memory
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.recipe import Recipe
from benchmark.store import Store
from perf._alone import alone
from perf._model import Bar, Measured, Part, at_least
from perf._slices import Contender, end_with_parent, paces_in_slices, stamp
from perf._timing import spread
from perf.training import DIM, bare_step, usual_loop

TITLE = "Grid throughput"
HOW = (
    "Training images a second of the runner on two workers, from the first cell's start to the last one's end: data, "
    "batches, training, embedding, all metrics, handing over and storing. The bare step is forward, backward and "
    "optimiser on normalised batches in memory, in two processes at once; it does not augment, so neither does the "
    "runner beside it. The usual loop is pytorch-metric-learning's ArcFaceLoss with DataLoader and torchvision's "
    "transforms, shifts among them, sequential, with torch's own threads on both cores; the runner beside it shifts as "
    "well. All see the same net and images. The two of a ratio take turns in slices of two seconds, one stopped while "
    "the other goes, until the runner is done; the bare step against itself shows how exact that is. torch is imported "
    "before the first cell starts; its compiler, which the first optimiser asks for, is not."
)
WORKERS = 2
ROUNDS = 2
EPOCHS, CELLS = 40, 4  # cells of 40 s or so, two for each worker: embedding and scoring cost each about a second
SHIFTING_EPOCHS, SHIFTING_CELLS = 20, 2
SHORT_EPOCHS, SHORT_CELLS = 5, 8  # as long as those of `default`
CONTROL_EPOCHS = 20
SECONDS, QUICK_SECONDS = 2.0, 0.5  # of a slice
CONTROL = "bare step itself"


@dataclass(frozen=True)
class Duel:
    """The runner on cells of one kind against something else."""

    what: str
    other: str
    epochs: int
    cells: int
    augmentation: str
    bar: Bar | None

    @property
    def length(self) -> str:
        return f"{self.cells} cells of {self.epochs} epochs" if self.cells else f"{self.epochs} epochs"


DUELS = (
    Duel("runner", "bare step", EPOCHS, CELLS, "none", at_least(0.92)),
    Duel("runner, shifting", "usual loop", SHIFTING_EPOCHS, SHIFTING_CELLS, "shift", at_least(3.0)),
    Duel("runner, short cells", "bare step", SHORT_EPOCHS, SHORT_CELLS, "none", None),
    Duel(CONTROL, "bare step", CONTROL_EPOCHS, 0, "none", None),  # how far from 1 is the measurement's own error
)
QUICK = (Duel("runner", "bare step", 1, 2, "none", None), Duel("runner", "usual loop", 1, 2, "shift", None))


def measure(quick: bool) -> Part:
    dataset, duels, rounds = ("digits", QUICK, 1) if quick else ("glyphs", DUELS, ROUNDS)
    part = Part("runner", TITLE, HOW)
    for duel in duels:
        paces = [_paces(duel, dataset, QUICK_SECONDS if quick else SECONDS) for _ in range(rounds)]
        at = f"{dataset}, convnet, {duel.length}"
        for what, values in ((duel.what, [one for one, _ in paces]), (duel.other, [other for _, other in paces])):
            found = spread(values)
            part.measured.append(Measured(what, at, found.value, "images/s", found.low, found.high))
        found = spread([one / other for one, other in paces])
        what = f"{duel.what} / {duel.other}"
        part.measured.append(Measured(what, at, found.value, "×", found.low, found.high, duel.bar))
    return part


def _paces(duel: Duel, dataset: str, seconds: float) -> tuple[float, float]:
    others = {
        "bare step": Contender(step, (dataset, None), seconds),
        "usual loop": Contender(loop, (dataset,), seconds, threads=WORKERS),
    }
    if duel.what == CONTROL:
        one = Contender(step, (dataset, duel.epochs), seconds)
    else:
        one = Contender(run, (duel.epochs, duel.augmentation, dataset, duel.cells), seconds)
    return paces_in_slices(one, others[duel.other])


class Watch(Progress):
    """Notes when the first cell begins and the last one ends."""

    first = last = 0.0
    at_start: Callable[[], None]

    def running(self, cells: dict[str, Path]) -> None:
        if not self.first:
            self.first = time.perf_counter()
            self.at_start()

    def finished(self, job: Job) -> None:
        self.last = time.perf_counter()

    def tick(self) -> None:
        pass


def arcface_cell(seed: int, epochs: int, augmentation: str, dataset: str) -> Cell:
    recipe = Recipe(epochs=epochs, batch=128, augmentation=augmentation)
    data = {**datasets.resolve(dataset), "seed": 0}
    return Cell(data, "convnet", DIM, recipe, "arcface", {}, seed, "arcface", dataset)


def run_cells(cells: list[Cell], folder: Path, at_start: Callable[[], None] = lambda: None) -> tuple[list[Job], float]:
    """Runs them all; the seconds from the first one's start to the last one's end."""
    store = Store(folder, "perf")
    jobs = plan(cells, store, None).jobs
    workers = min(WORKERS, len(jobs))
    watch = Watch(jobs, workers)
    watch.at_start = at_start
    outcome = run_local(Work(jobs, store, Setting(None, "cpu", (), False), workers, watch))
    if outcome.interrupted:
        raise KeyboardInterrupt
    if len(outcome.done) != len(cells):
        raise RuntimeError(f"{len(cells) - len(outcome.done)} of {len(cells)} cells have no result: {outcome}")
    return jobs, watch.last - watch.first


def run(epochs: int, augmentation: str, dataset: str, number: int) -> None:
    """The runner's side."""
    cells = [arcface_cell(seed, epochs, augmentation, dataset) for seed in range(number)]
    with tempfile.TemporaryDirectory() as folder:
        jobs, _ = run_cells(cells, Path(folder), at_start=lambda: stamp(0))
        stamp(sum(job.images for job in jobs))


def step(dataset: str, epochs: int | None) -> None:
    """The bare step's side: two processes that do nothing but step, for ever without a number of epochs."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(WORKERS)]
    processes = [context.Process(target=_step, args=(dataset, epochs, theirs), daemon=True) for _, theirs in pipes]
    with one_thread_and_kept_memory():
        for process in processes:
            process.start()
    for both_ready in (False, True):
        for ours, _ in pipes:
            ours.send(True) if both_ready else ours.recv()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError(f"the bare step's processes ended with exit codes {[one.exitcode for one in processes]}")


def _step(dataset: str, epochs: int | None, leader: Connection) -> None:
    end_with_parent()
    data = datasets.load(dataset)
    run = bare_step(arcface_cell(0, 1, "none", dataset), data)
    run()
    leader.send(True)
    leader.recv()
    _stamp_each(run, len(data.train), epochs)


def loop(dataset: str) -> None:
    """The usual loop's side, for ever."""
    data = datasets.load(dataset)
    _stamp_each(usual_loop(arcface_cell(0, 1, "shift", dataset), data), len(data.train), None)


def _stamp_each(epoch: Callable[[], None], images: int, epochs: int | None) -> None:
    stamp(0)
    for done in count(1) if epochs is None else range(1, epochs + 1):
        epoch()
        stamp(done * images)


if __name__ == "__main__":
    alone(measure)
