"""summary.csv: one tidy row per run. Its bytes do not depend on who ran the cells and when."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.store.runs import Run
from datasets._files import write_atomically
from datasets._names import ONLY_TEST

LEADING = ("dataset", "backbone", "dim", "loss", "label", "hyper", "seed", "status", "diverged_at", "id")
TRAILING = ("recipe", "test_set", "identities")


def names_of_test_files(runs: Iterable[Run]) -> dict[tuple[str, str], str]:
    """For each run's id and test set its name, with the file's digest where files of that name differ between runs."""
    digests: dict[tuple[str, ...], dict[str, str | None]] = {}
    groups: dict[tuple[str, str], tuple[str, ...]] = {}
    for run in runs:
        for name in run.test_sets:
            # A set without a name of its own is the "test" of every dataset: it belongs to its dataset alone.
            group: tuple[str, ...] = (run.cell["labels"]["dataset"], name) if name == ONLY_TEST else (name,)
            groups[run.id, name] = group
            digests.setdefault(group, {})[run.id] = run.on(name).about_test_set.get("sha256")
    names = {}
    for (run_id, name), key in groups.items():
        digest = digests[key][run_id] or "unknown"
        names[run_id, name] = f"{name} (sha256 {digest[:8]})" if len(set(digests[key].values())) > 1 else name
    return names


def write_summary(folder: Path, runs: Iterable[Run]) -> None:
    """Writes summary.csv into an experiment's folder. Different files of one name have columns of their own."""
    runs = list(runs)
    table = summary_table(_told_apart(runs)).drop(columns=["test_set", "identities"])
    write_atomically(folder / "summary.csv", table.to_csv(index=False).encode())


def _told_apart(runs: list[Run]) -> list[Run]:
    names = names_of_test_files(runs)
    found = []
    for run in runs:
        metrics = {}
        for key, value in run.outcome["metrics"].items():
            split, _, metric = key.rpartition("/")
            metrics[f"{names.get((run.id, split), split)}/{metric}" if split else key] = value
        found.append(replace(run, outcome={**run.outcome, "metrics": metrics}))
    return found


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
        "identities": run.about_test_set.get("identities", "given"),
    }
