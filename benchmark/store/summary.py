"""summary.csv: one tidy row per run. Its bytes do not depend on who ran the cells and when."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.store.runs import Run
from datasets._files import write_atomically

LEADING = ("dataset", "backbone", "dim", "loss", "label", "hyper", "seed", "status", "diverged_at", "id")
TRAILING = ("recipe", "test_set")


def write_summary(folder: Path, runs: Iterable[Run]) -> None:
    """Writes summary.csv into an experiment's folder."""
    table = summary_table(runs).drop(columns="test_set")
    write_atomically(folder / "summary.csv", table.to_csv(index=False).encode())


def summary_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Settings, then metrics in the order of their names; a value that could not be measured is empty."""
    rows = [_row(run) for run in runs]
    metrics = sorted({name for row in rows for name in row} - {*LEADING, *TRAILING})
    table = pd.DataFrame(rows, columns=[*LEADING, *metrics, *TRAILING])
    return table.sort_values(["dataset", "backbone", "dim", "label", "recipe", "seed", "id"], ignore_index=True)


def _row(run: Run) -> dict[str, Any]:
    cell, labels = run.cell["cell"], run.cell["labels"]
    return {
        "dataset": labels["dataset"],
        "backbone": cell["backbone"],
        "dim": cell["dim"],
        "loss": cell["loss"],
        "label": labels["loss"],
        "hyper": json.dumps(cell["hyper"], sort_keys=True),
        "seed": cell["seed"],
        "status": "ok" if run.diverged_at is None else "diverged",
        "diverged_at": run.diverged_at,
        "id": run.id,
        **run.metrics,
        "recipe": json.dumps(cell["recipe"], sort_keys=True),
        "test_set": run.test_set,
    }
