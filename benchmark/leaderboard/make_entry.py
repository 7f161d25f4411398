"""Makes the entry of a loss from its stored runs, and writes it. The same runs give the same bytes."""

import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import losses
from benchmark.audit import CheckOutcome
from benchmark.code_digest import loss_digest
from benchmark.errors import InputError
from benchmark.findings import family
from benchmark.leaderboard.entries import FORMAT, Entry, Result, tuned_names
from benchmark.leaderboard.entry_files import parse
from benchmark.metrics import columns, keys
from benchmark.results import by_test_set, tidy
from benchmark.store import DamagedError, Run, Store
from datasets._files import write_atomically

DECIMALS = 6  # of metrics without each identity; the rounding error is below a thousandth of their spread


def make_entry(runs: Sequence[Run], audit: Sequence[CheckOutcome]) -> Entry:
    """The entry of one loss and configuration, from all of its runs and its passed audit.

    `ValueError` says what in the loss's file an entry cannot contain.
    """
    first = runs[0].cell
    name, hyper = first["cell"]["loss"], first["cell"]["hyper"]
    loss = losses.get(name)
    content = {
        "format": FORMAT,
        "loss": name,
        "hyper": hyper,
        "settings": {key: hyper.get(key, declared.default) for key, declared in loss.hyper.items()},
        "tuned": bool(tuned_names(hyper)),
        "family": family(loss),
        "description": inspect.cleandoc(loss.__doc__ or ""),
        "origin": source_of(name),
        "loss_digest": first["loss_digest"],
        "protocol": first["protocol"],
        "date": max(run.cell["provenance"]["begun"] for run in runs)[:10],
        "versions": _versions(runs),
        "audit": [_check(outcome) for outcome in audit],
        "results": _results(list(runs)),
    }
    try:
        return parse(_laid_out(content).encode())
    except ValueError as problem:
        raise InputError(f"{name} cannot get an entry: {problem}") from problem


def write_entry(entry: Entry, folder: Path) -> Path:
    """Writes the entry unless its file is up to date."""
    path, content = folder / f"{entry.name}.json", as_text(entry).encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)
    return path


def complete_entry(entry: Entry, store: Store) -> Entry:
    """The entry with the present metrics of its stored runs. A result is updated only if all of its runs are stored
    with the embeddings that the entry names."""
    content = entry.model_dump(mode="json")
    for result, of_file in zip(entry.results, content["results"], strict=True):
        found = [stored_run(store, entered.cell, result.test_set) for entered in result.runs]
        runs = [run for run in found if run is not None]
        if [embeddings_digest(run) for run in runs] == [entered.embeddings for entered in result.runs]:
            known = set(keys())
            of_plugins = {name: values for name, values in result.figures.items() if name not in known}
            of_file["figures"] = {**_figures(runs), **of_plugins}
            of_file["without_each_identity"] = _without_each_identity(runs)
    return parse(_laid_out(content).encode())


def stored_run(store: Store, cell: str, test_set: str) -> Run | None:
    """The run of a cell, seen on a test set; None if it is missing or damaged."""
    try:
        return store.load(cell).on(test_set) if store.has(cell) else None
    except DamagedError:
        return None


def first_run(result: Result, store: Store) -> Run | None:
    """The stored run with the lowest seed that did not diverge, so that nobody chooses a pretty one."""
    sound = sorted((run.seed, run.cell) for run in result.runs if run.diverged_at is None)
    found = (stored_run(store, cell, result.test_set) for _, cell in sound)
    return next((run for run in found if run is not None), None)


def embeddings_digest(run: Run) -> str:
    return str(run.cell["checksums"]["embeddings.safetensors"])


def metrics_without_each_identity() -> list[str]:
    """The metrics whose intervals cover the test identities."""
    return [column.key for column in columns() if column.metric.entered]


def as_text(entry: Entry) -> str:
    """The text of an entry's file."""
    return _laid_out(entry.model_dump(mode="json")) + "\n"


def is_here(entry: Entry) -> bool:
    """Whether the loss of the entry exists here with the same code."""
    return entry.loss in losses.names() and loss_digest(entry.loss) == entry.loss_digest


def source_of(name: str) -> str:
    """`repository` for a loss in this project's losses/, else `plug-in`."""
    source = inspect.getsourcefile(losses.get(name)) or ""
    return "repository" if Path(source).resolve().parent == Path(losses.__file__).resolve().parent else "plug-in"


def _versions(runs: Sequence[Run]) -> dict[str, str]:
    """Versions that the runs were made with; several values where they differ."""
    places = [run.cell["provenance"] for run in runs]
    names = ("torch", "numpy", "python", "machine", "device", "commit")
    found = {name: sorted({str(place[name]) for place in places if place.get(name)}) for name in names}
    return {name: ", ".join(values)[:200] for name, values in found.items() if values}


def _check(outcome: CheckOutcome) -> dict[str, Any]:
    worst = None if outcome.worst is None else float(f"{outcome.worst:.1e}")
    return {"check": outcome.check, "verdict": outcome.verdict, "worst": worst, "tolerance": outcome.tolerance}


def _results(runs: list[Run]) -> list[dict[str, Any]]:
    seen = by_test_set(runs)
    by_row = {(run.id, run.test_set): run for run in seen}
    parts = tidy(seen).sort_values("seed").groupby("dataset", sort=True)
    rows = {str(label): zip(part["id"], part["test_set"], strict=True) for label, part in parts}
    return [_result(label, [by_row[row] for row in of_label]) for label, of_label in rows.items()]


def _result(label: str, runs: list[Run]) -> dict[str, Any]:
    cell = runs[0].cell["cell"]
    return {
        "label": label,
        "dataset": cell["dataset"],
        "test_set": runs[0].test_set,
        "digest": runs[0].cell["dataset_digest"],
        "backbone": cell["backbone"],
        "backbone_digest": runs[0].cell["backbone_digest"],
        "dim": cell["dim"],
        "recipe": cell["recipe"],
        "runs": [_run(run) for run in runs],
        "figures": _figures(runs),
        "without_each_identity": _without_each_identity(runs),
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "seed": run.cell["cell"]["seed"],
        "cell": run.id,
        "embeddings": embeddings_digest(run),
        "diverged_at": run.diverged_at,
        "diverged_reason": run.diverged_reason[:500],
    }


def _figures(runs: list[Run]) -> dict[str, list[float | None]]:
    """The metrics that tables show, except those that no run has."""
    found = {column.key: [run.metrics.get(column.key) for run in runs] for column in columns()}
    return {name: values for name, values in found.items() if any(value is not None for value in values)}


def _without_each_identity(runs: list[Run]) -> dict[str, list[list[float] | None]]:
    kept = [run.jackknife() for run in runs]
    return {
        name: [None if name not in one else np.round(one[name], DECIMALS).tolist() for one in kept]
        for name in metrics_without_each_identity()
        if any(name in one for one in kept)
    }


def _laid_out(value: Any, indent: str = "") -> str:
    """JSON with one line for each run and each metric, so that diffs are short."""
    within = indent + " "
    if isinstance(value, Mapping) and any(_is_container(one) for one in value.values()):
        parts = [f"{json.dumps(key)}: {_laid_out(one, within)}" for key, one in value.items()]
        return "{\n" + ",\n".join(within + part for part in parts) + f"\n{indent}}}"
    if isinstance(value, list) and any(_is_container(one) for one in value):
        return "[\n" + ",\n".join(within + _laid_out(one, within) for one in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping | list)
