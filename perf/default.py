"""The experiment that `make bench` runs, from the first cell's start to the last one's end.

python -m perf.default [--quick]
"""

import tempfile
from pathlib import Path

from benchmark import spec
from perf._alone import alone
from perf._model import Measured, Part, at_most
from perf.runner import WORKERS, run_cells

TITLE = "The default experiment"
HOW = "All cells of `default` on two workers, trained, scored and stored; without set-up and report."
WITHIN = at_most(600.0)


def measure(quick: bool) -> Part:
    experiment = spec.load("default")
    cells = experiment.cells(["softmax"], ["digits"], [0]) if quick else experiment.cells()
    with tempfile.TemporaryDirectory() as folder:
        seconds = run_cells(cells, Path(folder))[1]
    at = f"{len(cells)} cells, {WORKERS} workers"
    measured = Measured("all cells of default", at, seconds, "s", bar=WITHIN, judged=not quick)
    return Part("default", TITLE, HOW, [measured])


if __name__ == "__main__":
    alone(measure)
