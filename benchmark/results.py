"""An experiment's stored runs as one tidy frame, which statistics, report and tables read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.cell import PROTOCOL_VERSION, Cell
from benchmark.code_digest import backbone_digest, loss_digest
from benchmark.recipe import whole
from benchmark.spec import Experiment
from benchmark.store import Failure, Run, Store, names_of_test_files, summary_table
from datasets._names import ONLY_TEST

if TYPE_CHECKING:
    from benchmark.statistics import Jackknife  # importing scipy.stats would delay every run's first step


@dataclass(frozen=True)
class ExperimentResults:
    """The current results of an experiment, and what is missing of them."""

    experiment: Experiment
    folder: Path
    runs: list[Run]  # in the order of the table's rows
    table: pd.DataFrame
    """One row per run. `loss` is the row's label and `name` the registered loss; `dataset` is the dataset's label, with
    backbone, dim and recipe where the experiment varies them, so that losses are compared within one setting; a tuned
    learning rate is part of the loss's own setting."""
    missing: list[Cell]  # asked for, without a result
    failures: list[tuple[Cell, Failure]]  # of those that are missing
    damaged: list[str]

    @property
    def trained(self) -> int:
        """Cells that have a result; a run with several test sets has several rows."""
        return len({(run.id, run.cell["labels"]["loss"]) for run in self.runs})

    @cached_property
    def jackknife(self) -> "Jackknife":
        """Of every run, each metric without each test identity; read when first asked for."""
        rows = zip(self.runs, self.table["loss"], self.table["dataset"], self.table["seed"], strict=True)
        return {(loss, dataset, int(seed)): run.jackknife() for run, loss, dataset, seed in rows}


def collect(experiment: Experiment, results: Path) -> ExperimentResults:
    """The stored runs that the experiment, as it is now, still asks for."""
    store = Store(results, experiment.name)
    cells = experiment.cells()
    stored, damaged = store.load_all()
    runs = current_runs(cells, stored)
    found = {described(run.cell["cell"]) for run in runs}
    missing = [cell for cell in cells if described(cell.description()) not in found]
    failed = {described(failure.cell): failure for failure in store.failures()}
    failures = [(cell, failed[about]) for cell in missing if (about := described(cell.description())) in failed]
    seen = by_test_set(runs)
    table = tidy(seen)
    by_row = {(run.id, run.cell["labels"]["loss"], run.test_set): run for run in seen}
    ordered = [by_row[row] for row in zip(table["id"], table["loss"], table["test_set"], strict=True)]
    return ExperimentResults(experiment, store.folder, ordered, table, missing, failures, damaged)


def current_runs(cells: list[Cell], stored: list[Run], planned: Mapping[str, str] | None = None) -> list[Run]:
    """The runs of these cells under the present protocol and the present code of losses and backbones, with the labels
    that they have now: each once, or twice where a row and the tuned one have the same settings.

    `planned` gives cells' ids by their description, where the data was loaded and they are known. Where they are
    not, and the data has changed between two runs of the same cell, the later one counts.
    """
    wanted: dict[str, list[Cell]] = {}
    for cell in cells:
        wanted.setdefault(described(cell.description()), []).append(cell)
    of_loss = {name: loss_digest(name) for name in {cell.loss for cell in cells}}
    of_backbone = {name: backbone_digest(name) for name in {cell.backbone for cell in cells}}
    found: dict[tuple[str, str], Run] = {}
    for run in sorted(stored, key=lambda run: (run.cell["provenance"]["begun"], run.id)):
        about = described(run.cell["cell"])
        if run.cell["protocol"] != PROTOCOL_VERSION or about not in wanted:
            continue
        present = of_loss[run.cell["cell"]["loss"]], of_backbone[run.cell["cell"]["backbone"]]
        same_code = (run.cell["loss_digest"], run.cell.get("backbone_digest")) == present
        if same_code and (planned or {}).get(about, run.id) == run.id:
            for cell in wanted[about]:
                labels = {"loss": cell.label, "dataset": cell.dataset_label, "tuned": cell.tuned}
                found[about, cell.label] = replace(run, cell={**run.cell, "labels": labels})
    return sorted(found.values(), key=lambda run: (run.id, run.cell["labels"]["loss"]))


def by_test_set(runs: list[Run]) -> list[Run]:
    """Each run as its result on each of its test sets, which tables show as datasets of their own: `faces: lfw`.

    Where files of one name differ, their digests tell them apart: `faces: lfw (sha256 1a2b3c4d)`.
    """
    found, files = [], names_of_test_files(runs)
    for run in runs:
        for name in run.test_sets:
            labels = run.cell["labels"]
            labels = {**labels, "dataset": result_label(labels["dataset"], files[run.id, name])}
            found.append(replace(run, cell={**run.cell, "labels": labels}, test_set=name))
    return found


def result_label(dataset: str, test_set: str) -> str:
    """How tables name the results on a test set: `digits`, or `faces: lfw` where a dataset has several."""
    return dataset if test_set == ONLY_TEST else f"{dataset}: {test_set}"


def tidy(runs: list[Run]) -> pd.DataFrame:
    """The summary's rows, named as statistics want them, with `tuned`: whether tuning chose the row's settings."""
    table = summary_table(runs).rename(columns={"loss": "name", "label": "loss"})
    tuned = {run.cell["labels"]["loss"] for run in runs if run.cell["labels"].get("tuned")}
    table = table.assign(tuned=table["loss"].isin(tuned))
    for dataset, rows in table.groupby("dataset"):
        settings = [settings_of(row) for row in rows[["backbone", "dim", "recipe"]].to_dict("records")]
        own = [setting for setting, is_tuned in zip(settings, rows["tuned"], strict=True) if not is_tuned]
        varied = [key for key in settings[0] if len({one[key] for one in (own if key == "lr" else settings)}) > 1]
        labels = [" · ".join([str(dataset), *(f"{key} {setting[key]}" for key in varied)]) for setting in settings]
        table.loc[rows.index, "dataset"] = labels
    return table


def settings_of(row: Mapping[Any, Any]) -> dict[str, str]:
    """Backbone, dim and each part of the recipe of a row of the table, as text; milestones are part of the schedule."""
    parts = {"backbone": row["backbone"], "dim": row["dim"], **whole(json.loads(row["recipe"]))}
    milestones = parts.pop("milestones")
    if milestones:
        parts["schedule"] += f" ({', '.join(f'{share:g}' for share in milestones)})"
    return {key: _as_text(value) for key, value in parts.items()}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "/".join(map(_as_text, value)) or "measured"
    return f"{value:g}" if isinstance(value, float) else str(value)


def described(cell: Mapping[str, Any]) -> str:
    """A cell's description as a key: equal for equal cells."""
    return json.dumps(cell, sort_keys=True)
