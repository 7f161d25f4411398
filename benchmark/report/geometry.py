"""How the classes lie on the sphere, loss by loss, and how to read it."""

import math
from collections.abc import Mapping

from benchmark.findings import PLUS_MINUS, Findings, Losses, entry_of
from benchmark.metrics import MetricColumn, measured
from benchmark.tables import Column, Row, Table, Value
from benchmark.tables.model import NOTHING


def geometry(findings: Findings, losses: Losses, classes: Mapping[str, int]) -> Table:
    """One row for each dataset and loss; `classes` are those of each dataset's training set."""
    columns = measured(findings.results, "geometry")
    rows = [
        Row(
            (Value(loss), Value(dataset), *(_entry(findings, column, loss, dataset) for column in columns)),
            tags={"loss": loss, "dataset": dataset, "family": losses[loss].family},
        )
        for dataset in findings.datasets
        for loss in sorted(findings.results[findings.results["dataset"] == dataset]["loss"].unique())
    ]
    return Table(
        "geometry",
        "Geometry",
        (
            Column("Loss", numeric=False),
            Column("Dataset", numeric=False),
            *(Column(column.heading, column.meaning) for column in columns),
        ),
        tuple(rows),
        f"Angles in degrees, mean over the seeds; {PLUS_MINUS}, which carries the seeds. A class's centre is the "
        "direction of the mean of its normalised embeddings.",
        tuple(limits(classes)),
    )


def limits(classes: Mapping[str, int]) -> list[str]:
    """What no arrangement of the training classes can exceed: a larger mean angle is not by itself a better one."""
    notes = [
        "Compact classes have a small Intra and WC-Intra, well separated ones a large C-Inter-min. A larger mean angle "
        "(W-Inter, C-Inter) is not by itself a better arrangement: read it beside the smallest one."
    ]
    for dataset, count in classes.items():
        if count >= 2:
            pairs, unlike = count * (count - 1) / 2, count**2 // 4
            notes.append(
                f"{dataset}: {count} training classes cannot all be more than "
                f"{math.degrees(math.acos(-1 / (count - 1))):.1f}° from each other (a simplex is best), while the mean "
                f"angle of all pairs can reach {180 * unlike / pairs:.1f}° (two antipodal heaps)."
            )
    return notes


def _entry(findings: Findings, column: MetricColumn, loss: str, dataset: str) -> Value:
    finding = findings.of(column.key).get((loss, dataset))
    return Value(NOTHING) if finding is None else entry_of(finding, column, losses=1)  # no mean is the best one
