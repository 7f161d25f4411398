"""Which of a scale's data are not on this machine, and how to get them."""

from collections.abc import Sequence
from pathlib import Path

from benchmark.engine.plan import load_data
from benchmark.papers.paper import Paper, Scale
from benchmark.spec import DatasetRow


def missing_data(scale: Scale, root: Path | None, labels: Sequence[str]) -> dict[str, str]:
    """Of these datasets, by their labels, those that are not here, with how to get them."""
    reasons = {row.label: _reason(row, scale, root) for row in scale.experiment.datasets if row.label in labels}
    return {label: reason for label, reason in reasons.items() if reason is not None}


def _reason(row: DatasetRow, scale: Scale, root: Path | None) -> str | None:
    try:
        load_data(row.dataset, row.access, root)
    except FileNotFoundError as problem:
        own = scale.own_data.get(row.label)
        return f"{own.data}: {own.get}\n{problem}" if own else str(problem)
    return None


def refusal(paper: Paper, scale: Scale, absent: dict[str, str]) -> str:
    """The message for a table that cannot begin."""
    count = f"{len(absent)} of {len(scale.experiment.datasets)} datasets"
    parts = [f"{paper.name} at scale {scale.name}: {count} are not here, and nothing was started."]
    parts += [f"\n{label}: {reason}" for label, reason in absent.items()]
    if scale.name != "cpu":
        parts.append("\nThe scale cpu compares the same losses on data that a laptop trains on.")
    return "\n".join(parts)
