"""What is not in the tables: runs that diverged or failed, cells without a result, files that are damaged."""

from collections.abc import Iterable

from benchmark.cell import Cell
from benchmark.results import ExperimentResults
from benchmark.tables import Column, Row, Table, Value


def incomplete(collected: ExperimentResults) -> Table:
    """A row for every run that diverged, cell that failed, group of cells that is missing and damaged file."""
    failed = [("failed", cell.label, _where(cell), str(cell.seed), why.reason) for cell, why in collected.failures]
    rows = [*_diverged(collected), *failed, *_missing(collected)]
    rows += [("damaged", "", "", "", problem) for problem in collected.damaged]
    return Table(
        "incomplete",
        "Diverged, failed, missing",
        tuple(Column(heading, numeric=False) for heading in ("What", "Loss", "Dataset", "Seeds", "Reason")),
        tuple(Row(tuple(Value(text) for text in row)) for row in rows),
    )


Line = tuple[str, str, str, str, str]


def _diverged(collected: ExperimentResults) -> Iterable[Line]:
    for run, loss, dataset in zip(collected.runs, collected.table["loss"], collected.table["dataset"], strict=True):
        if run.diverged_at is not None:
            reason = f"diverged at step {run.diverged_at}: {run.diverged_reason}"
            yield "diverged", str(loss), str(dataset), str(run.cell["cell"]["seed"]), reason


def _missing(collected: ExperimentResults) -> Iterable[Line]:
    """Those that were never tried, the seeds of a loss and dataset together."""
    failed = [cell for cell, _ in collected.failures]
    groups: dict[tuple[str, str], list[int]] = {}
    for cell in collected.missing:
        if cell not in failed:
            groups.setdefault((cell.label, _where(cell)), []).append(cell.seed)
    for (loss, dataset), seeds in groups.items():
        yield "missing", loss, dataset, ", ".join(map(str, dict.fromkeys(seeds))), "not run yet"


def _where(cell: Cell) -> str:
    return f"{cell.dataset_label} · {cell.backbone}/{cell.dim}"
