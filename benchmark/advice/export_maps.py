"""From an experiment's stored runs to the file of maps that `advise` reads."""

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.advice.maps_file import ABOUT, COLUMNS, IN_CLONE, NAME
from benchmark.errors import InputError
from benchmark.metrics import main_column
from benchmark.provenance import provenance
from benchmark.results import ExperimentResults
from benchmark.scale_margin import classes_of, training_sizes, with_settings
from benchmark.statistics import interval_in_words, summarise
from datasets._files import write_atomically

DECIMALS = 6


def default_place(experiment: str, results: Path) -> Path:
    """Where a clone keeps committed outcomes; the results' folder outside a clone."""
    reference = IN_CLONE.parents[1]
    return (reference if reference.is_dir() else results / "reference") / experiment / NAME


def export(collected: ExperimentResults, path: Path) -> int:
    """Writes the file, whole or not at all; the number of its lines. The same runs give the same bytes."""
    rows = map_rows(collected)
    if not rows:
        raise InputError(
            f"there is nothing to write: no run of {collected.experiment.name} has a value, "
            f"run `python -m benchmark run {collected.experiment.name}` first or name the folder with --results"
        )
    text = io.StringIO()
    for key, words in about(collected).items():
        text.write(f"# {key}: {words}\n")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())
    return len(rows)


def about(collected: ExperimentResults) -> dict[str, str]:
    """Where the runs come from: nothing in it depends on when the file is written."""
    known = provenance(collected.runs)
    words = {
        "experiment": collected.experiment.name,
        "measured": known["Trained"],
        "versions": "; ".join(f"{name} {known[name]}" for name in ("Python", "torch", "NumPy", "Machine", "Device")),
        "commit": known["Commit"],
    }
    return {key: words[key] for key in ABOUT}


def map_rows(collected: ExperimentResults) -> list[dict[str, Any]]:
    """A line for each setting on each dataset that has its main metric."""
    sizes = training_sizes(collected)
    table = with_settings(collected.table, classes_of(sizes))
    found: list[dict[str, Any]] = []
    for dataset, rows in table.groupby("dataset", sort=True):
        column, size = main_column(rows), sizes[str(dataset)]
        if column is None or size.images_per_class is None:
            continue
        key = column.on("val").key
        on_validation = rows.groupby("loss")[key].mean() if key in rows else pd.Series(dtype=float)
        settings = rows.drop_duplicates("loss").set_index("loss")
        runs = rows["loss"].value_counts()
        diverged = rows.loc[rows["status"] != "ok", "loss"].value_counts()
        for one in summarise(rows, [column.key], collected.jackknife).to_dict("records"):
            loss = str(one["loss"])
            found.append({
                "dataset": dataset, "protocol": size.protocol, "classes": size.classes,
                "images_per_class": f"{size.images_per_class:g}", "dim": size.dim,
                "loss": settings.loc[loss, "name"], "setting": loss,
                "s": _text(settings.loc[loss, "s"]), "m": _text(settings.loc[loss, "m"]),
                "metric": column.key, "validation": _text(on_validation.get(loss)),
                "mean": _text(one["mean"]), "low": _text(one["low"]), "high": _text(one["high"]),
                "interval": interval_in_words(one["carries"]),
                "seeds": one["n_seeds"], "runs": int(runs[loss]), "diverged": int(diverged.get(loss, 0)),
            })  # fmt: skip
    return found


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else f"{round(float(value), DECIMALS):.{DECIMALS}g}"
