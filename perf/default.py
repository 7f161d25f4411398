"""The experiment that `make bench` runs, from the first cell's start to the last one's end.

python -m perf.default [--quick]
"""

import tempfile
from pathlib import Path

from benchmark import spec
from benchmark.cell import Cell
from perf._alone import alone
from perf._model import Measured, Part, at_most
from perf._process import in_own_process
from perf.runner import WORKERS, run_cells

TITLE = "The default experiment"
HOW = "All cells of `default` on two workers, trained, scored and stored; without set-up and report."
WITHIN = at_most(600.0)


def measure(quick: bool) -> Part:
    cells = _cells(quick)
    seconds = in_own_process(seconds_of, quick)
    at = f"{len(cells)} cells, {WORKERS} workers"
    measured = Measured("all cells of default", at, seconds, "s", bar=WITHIN, judged=not quick)
    return Part("default", TITLE, HOW, [measured])


def seconds_of(quick: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return run_cells(_cells(quick), Path(folder))[1]


def _cells(quick: bool) -> list[Cell]:
    experiment = spec.load("default")
    return experiment.cells(["softmax"], ["digits"], [0]) if quick else experiment.cells()


if __name__ == "__main__":
    alone(measure)
