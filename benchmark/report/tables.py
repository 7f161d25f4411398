"""The report's own tables: each dataset in detail, the geometry of the classes, and runs without a sound result."""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from benchmark.cell import Cell
from benchmark.findings import PAIRED, PLUS_MINUS, Finding, Findings, Losses, carried, entry_of
from benchmark.metrics import MetricColumn, measured
from benchmark.results import ExperimentResults
from benchmark.tables import Column, Row, Table, Value, with_error
from benchmark.tables.model import NOTHING

Found = Mapping[str, Mapping[tuple[str, str], Finding]]  # by the metric's key
ScaleAndMargin = Mapping[str, tuple[list[float], list[float]]]
Line = tuple[str, str, str, str, str]
ENDED = "at the end of training, mean over the seeds; only if it is the same for all classes"


def details(findings: Findings, losses: Losses, dataset: str, name: str, ends: ScaleAndMargin) -> Table:
    """Every metric on one dataset; `ends` are s and m of each loss at the end of its runs."""
    results = findings.results[findings.results["dataset"] == dataset]
    here = sorted(results["loss"].unique())
    columns = measured(results, "performance")
    found = {column.key: findings.of(column.key, column.lower_is_better) for column in columns}
    rows = [
        Row(
            (
                Value(loss),
                *(entry_of(found[column.key].get((loss, dataset)), column, len(here)) for column in columns),
                *(with_error(float(np.mean(values)) if values else None) for values in ends.get(loss, ([], []))),
            ),
            tags={"loss": loss, "family": losses[loss].family},
        )
        for loss in here
    ]
    headings = [Column("Loss", numeric=False), *(Column(column.title, column.meaning) for column in columns)]
    headings += [Column("s", f"scale {ENDED}"), Column("m", f"margin {ENDED}")]
    notes = [*_carried(found, columns, dataset), PAIRED]
    lower = ", ".join(column.heading for column in columns if column.lower_is_better)
    caption = "Mean over the seeds." + (f" Lower is better for {lower}." if lower else "")
    title = f"Every metric on {dataset}"
    return Table(f"dataset-{name}", title, tuple(headings), tuple(rows), caption, tuple(notes))


def _carried(found: Found, columns: list[MetricColumn], dataset: str) -> list[str]:
    """Which variation the interval of each column includes."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        kinds.setdefault(carried(found[column.key], dataset), []).append(column.heading)
    parts = [f"over {kind} ({', '.join(headings)})" for kind, headings in kinds.items() if kind]
    return [f"{PLUS_MINUS}. It includes the variation {' and '.join(parts)}."] if parts else []


def geometry(findings: Findings, losses: Losses, classes: Mapping[str, int]) -> Table:
    """One row for each dataset and loss; `classes` are those of each dataset's training set."""
    columns = measured(findings.results, "geometry")
    rows = [
        Row(
            (Value(loss), Value(dataset), *(_angle(findings, column, loss, dataset) for column in columns)),
            tags={"loss": loss, "dataset": dataset, "family": losses[loss].family},
        )
        for dataset in findings.datasets
        for loss in sorted(findings.results[findings.results["dataset"] == dataset]["loss"].unique())
    ]
    return Table(
        "geometry",
        "All angles",
        (
            Column("Loss", numeric=False),
            Column("Dataset", numeric=False),
            *(Column(column.heading, column.meaning) for column in columns),
        ),
        tuple(rows),
        f"Angles in degrees, mean over the seeds. {PLUS_MINUS} and includes the variation over seeds. The centre of a "
        "class is the direction of the mean of its normalised embeddings.",
        tuple(limits(classes)),
    )


def limits(classes: Mapping[str, int]) -> list[str]:
    """What no arrangement of the training classes can exceed."""
    notes = [
        "Compact classes have a small Intra and WC-Intra. Well separated classes have a large C-Inter-min. A larger "
        "mean angle (W-Inter, C-Inter) alone does not mean better separation: compare it with the smallest angle."
    ]
    for dataset, count in classes.items():
        if count >= 2:
            pairs, unlike = count * (count - 1) / 2, count**2 // 4
            notes.append(
                f"{dataset}: {count} training classes cannot all be more than "
                f"{math.degrees(math.acos(-1 / (count - 1))):.1f}° from each other (a simplex reaches it). The mean "
                f"angle of all pairs can reach {180 * unlike / pairs:.1f}° (two groups at opposite poles)."
            )
    return notes


def _angle(findings: Findings, column: MetricColumn, loss: str, dataset: str) -> Value:
    finding = findings.of(column.key).get((loss, dataset))
    return Value(NOTHING) if finding is None else entry_of(finding, column, losses=1)  # no angle is marked as the best


def incomplete(collected: ExperimentResults) -> Table:
    """A row for every diverged run, failed cell, group of missing cells and damaged file."""
    failed = [("failed", cell.label, _where(cell), str(cell.seed), why.reason) for cell, why in collected.failures]
    rows = [*_diverged(collected), *failed, *_missing(collected)]
    rows += [("damaged", "", "", "", problem) for problem in collected.damaged]
    return Table(
        "incomplete",
        "Diverged, failed and missing runs",
        tuple(Column(heading, numeric=False) for heading in ("What", "Loss", "Dataset", "Seeds", "Reason")),
        tuple(Row(tuple(Value(text) for text in row)) for row in rows),
    )


def _diverged(collected: ExperimentResults) -> Iterable[Line]:
    for run, loss, dataset in zip(collected.runs, collected.table["loss"], collected.table["dataset"], strict=True):
        if run.diverged_at is not None:
            reason = f"diverged at step {run.diverged_at}: {run.diverged_reason}"
            yield "diverged", str(loss), str(dataset), str(run.cell["cell"]["seed"]), reason


def _missing(collected: ExperimentResults) -> Iterable[Line]:
    """Cells that were never run; the seeds of a loss and dataset are one row."""
    failed = [cell for cell, _ in collected.failures]
    groups: dict[tuple[str, str], list[int]] = {}
    for cell in collected.missing:
        if cell not in failed:
            groups.setdefault((cell.label, _where(cell)), []).append(cell.seed)
    for (loss, dataset), seeds in groups.items():
        yield "missing", loss, dataset, ", ".join(map(str, dict.fromkeys(seeds))), "not run yet"


def _where(cell: Cell) -> str:
    return f"{cell.dataset_label} · {cell.backbone}/{cell.dim}"
