"""Finds the datasets of a scale that are not on this machine, and says how to get them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.engine.plan import load_data
from benchmark.papers.paper import Paper, Scale
from benchmark.spec import DatasetRow


@dataclass(frozen=True)
class Supply:
    """Which datasets of a table are here and which are not."""

    paper: Paper
    scale: Scale
    present: list[str]
    absent: dict[str, str]  # with how to get them

    @property
    def too_little(self) -> bool:
        """Whether the table cannot be made. Scale full needs all datasets, the other scales at least one."""
        return bool(self.absent) and (self.scale.name == "full" or not self.present)


def supply_of(paper: Paper, scale: Scale, root: Path | None, datasets: Sequence[str] | None = None) -> Supply:
    """Of the scale's datasets, or of these."""
    wanted = list(dict.fromkeys(cell.dataset_label for cell in scale.experiment.cells(datasets=datasets)))
    absent = missing_data(scale, root, wanted)
    return Supply(paper, scale, [label for label in wanted if label not in absent], absent)


def missing_data(scale: Scale, root: Path | None, labels: Sequence[str]) -> dict[str, str]:
    """Of these datasets, by their labels, those that are not here, with how to get them."""
    reasons = {row.label: _reason(row, scale, root) for row in scale.experiment.datasets if row.label in labels}
    return {label: reason for label, reason in reasons.items() if reason is not None}


def _reason(row: DatasetRow, scale: Scale, root: Path | None) -> str | None:
    """Why a dataset cannot be loaded; None if it can. A folder of people's own counts as missing while it is empty."""
    own = scale.own_data.get(row.label)
    try:
        load_data(row.dataset, row.access, root)
    except FileNotFoundError as problem:
        return f"{own.data}: {own.get}\n{problem}" if own else str(problem)
    except ValueError as problem:
        if own is None:
            raise
        return f"{own.data}: {own.get}\n{problem}"
    return None


def refusal(lacking: Sequence[Supply]) -> str:
    """The message for tables that cannot begin."""
    parts: list[str] = []
    for supply in lacking:
        paper, scale = supply.paper, supply.scale
        count = f"{len(supply.absent)} of {len(scale.experiment.datasets)} datasets"
        parts.append(f"{paper.name} at scale {scale.name}: {count} are not here, so nothing was started.")
        parts += [f"\n{label}: {reason}" for label, reason in supply.absent.items()]
        parts.append("")
    if any(supply.scale.name != "cpu" for supply in lacking):
        parts.append("--scale cpu compares the same losses on data that needs no download or little.")
    return "\n".join(parts).rstrip()
