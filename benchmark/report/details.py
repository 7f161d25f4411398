"""One dataset in detail: every loss by every metric, with the scale and margin that training ended at."""

from collections.abc import Mapping

import numpy as np

from benchmark.findings import PAIRED, PLUS_MINUS, Finding, Findings, Losses, carried, entry_of
from benchmark.metrics import MetricColumn, measured
from benchmark.tables import Column, Row, Table, Value, with_error

Found = Mapping[str, Mapping[tuple[str, str], Finding]]  # by the metric's key
ScaleAndMargin = Mapping[str, tuple[list[float], list[float]]]
ENDED = "at the end of training, mean over the seeds; of losses that have one for all classes"


def details(findings: Findings, losses: Losses, dataset: str, name: str, ends: ScaleAndMargin) -> Table:
    """`ends` are each loss's s and m at the end of its runs."""
    results = findings.results[findings.results["dataset"] == dataset]
    here = sorted(results["loss"].unique())
    columns = measured(results, "performance")
    found = {column.key: findings.of(column.key, column.lower_is_better) for column in columns}
    rows = [
        Row(
            (
                Value(loss),
                *(entry_of(found[column.key].get((loss, dataset)), column, len(here)) for column in columns),
                *(_end(values) for values in ends.get(loss, ([], []))),
            ),
            tags={"loss": loss, "family": losses[loss].family},
        )
        for loss in here
    ]
    headings = [Column("Loss", numeric=False), *(Column(column.title, column.meaning) for column in columns)]
    headings += [Column("s", f"scale {ENDED}"), Column("m", f"margin {ENDED}")]
    notes = [*_carried(found, columns, dataset), PAIRED]
    title = f"Every metric on {dataset}"
    return Table(f"dataset-{name}", title, tuple(headings), tuple(rows), _caption(columns), tuple(notes))


def _caption(columns: list[MetricColumn]) -> str:
    lower = ", ".join(column.heading for column in columns if column.lower_is_better)
    return "Mean over the seeds." + (f" Lower is better for {lower}." if lower else "")


def _carried(found: Found, columns: list[MetricColumn], dataset: str) -> list[str]:
    """Whose variance each column's interval carries."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        kinds.setdefault(carried(found[column.key], dataset), []).append(column.heading)
    parts = [f"{kind} in {', '.join(headings)}" for kind, headings in kinds.items() if kind]
    return [f"{PLUS_MINUS}; it carries {'; '.join(parts)}."] if parts else []


def _end(values: list[float]) -> Value:
    return with_error(float(np.mean(values)) if values else None)
