"""`run --dry-run`: what is stored, what is left to run, and how much time and memory that takes, roughly."""

from dataclasses import dataclass
from typing import Any

import datasets
from benchmark import spec
from benchmark.cell import Cell
from benchmark.errors import InputError
from benchmark.options import RunOptions
from benchmark.results import current_runs, described
from benchmark.run_experiment import Named, cells_of
from benchmark.store import Store
from benchmark.text import counted

STORED, FAILED, LEFT = "stored", "failed before", "to run"


@dataclass(frozen=True)
class DryRun:
    """The cells of a run, each once, with what is known of them without loading any data."""

    experiment: str
    cells: list[tuple[Cell, str, float | None]]  # with STORED, FAILED or LEFT, and seconds on one core
    workers: int  # 0, on Ray alone: as many as there is room for
    memory: float | None  # bytes of one worker at its peak
    overrides: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # on test pairs that have no images

    def count(self, state: str) -> int:
        return sum(one == state for _, one, _ in self.cells)

    @property
    def seconds_left(self) -> list[float | None]:
        return [seconds for _, state, seconds in self.cells if state == LEFT]

    @property
    def effort(self) -> str:
        """`340 cells, ~1.6 h on one core`, of what is left."""
        return f"{counted(self.count(LEFT), 'cell')}, {self._time()}"

    def as_text(self) -> str:
        """A line for each cell, then the sums."""
        lines = [f"{cell.title} · {spec.in_words([time]) if state == LEFT else state}"
                 for cell, state, time in self.cells]  # fmt: skip
        counts = f"{self.count(STORED):,} stored with a result, {self.count(LEFT):,} left to run"
        lines += [f"overrides: {', '.join(self.overrides)}"] if self.overrides else []
        lines += [f"note: {note}" for note in self.notes]
        lines.append(f"{self.experiment}: {counted(len(self.cells), 'cell')}, {counts}")
        if failed := self.count(FAILED):
            lines.append(f"{counted(failed, 'cell')} failed before and will not run again without --retry-failed")
        if self.count(LEFT):
            lines += [f"estimated time: {self._time()}", memory_in_words(self.memory, self.workers)]
        return "\n".join(lines)

    def _time(self) -> str:
        known = [seconds for seconds in self.seconds_left if seconds is not None]
        shared = ""
        if known and self.workers > 1:
            shared = f", {spec.in_words([sum(known) / self.workers])} with {self.workers} workers"
        return f"{spec.in_words(self.seconds_left)} on one core{shared}"

    def as_data(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        known = [seconds for seconds in self.seconds_left if seconds is not None]
        return {
            "experiment": self.experiment,
            "overrides": list(self.overrides),
            "cells": len(self.cells),
            "stored": self.count(STORED),
            "left": self.count(LEFT),
            "failed_before": self.count(FAILED),
            "notes": list(self.notes),
            "workers": self.workers,
            "estimated_seconds_on_one_core": sum(known) if len(known) == len(self.seconds_left) else None,
            "estimated_bytes_per_worker": None if self.memory is None else round(self.memory),
            "each": [
                {"cell": cell.title, "state": state, "estimated_seconds": time} for cell, state, time in self.cells
            ],
        }


def dry_run(experiment: Named, options: RunOptions) -> DryRun:
    """Looks at what is stored, and at lists of test pairs. Loads no image, trains nothing and writes nothing."""
    experiment = spec.load(experiment)
    store = Store(options.results, experiment.name)
    cells = list({described(cell.description()): cell for cell in cells_of(experiment, options)}.values())
    stored = {described(run.cell["cell"]) for run in current_runs(cells, store.load_all()[0])}
    failed = set() if options.retry_failed else {described(failure.cell) for failure in store.failures()}
    states = [_state(described(cell.description()), stored, failed) for cell in cells]
    left = [cell for cell, state in zip(cells, states, strict=True) if state == LEFT]
    seconds = spec.estimate_seconds(cells)
    return DryRun(
        experiment.name,
        list(zip(cells, states, seconds, strict=True)),
        options.workers_for(len(left)),
        spec.estimate_memory(left),
        experiment.overrides,
        _pairs_lost(cells, options),
    )


def _pairs_lost(cells: list[Cell], options: RunOptions) -> tuple[str, ...]:
    """Of each dataset once. Data that is not here, or is wrong, is for the run to report."""
    found = {}
    for cell in cells:
        key = described(cell.dataset)
        if key not in found:
            try:
                lost = datasets.pairs_lost(cell.dataset, options.data)
            except (InputError, OSError):
                lost = ()
            found[key] = [f"{cell.dataset_label}: {note}" for note in lost]
    return tuple(note for notes in found.values() for note in notes)


def _state(key: str, stored: set[str], failed: set[str]) -> str:
    return STORED if key in stored else FAILED if key in failed else LEFT


def memory_in_words(memory: float | None, workers: int) -> str:
    """`estimated memory: 0.5 GB per worker at its peak, 1.0 GB for 2 workers (right within a factor of 1.5)`."""
    if memory is None:
        return "estimated memory: unknown until the data is loaded"
    several = f", {_gigabytes(workers * memory)} for {workers} workers" if workers > 1 else ""
    close = f"(right within a factor of {spec.MEMORY_FACTOR:g})"
    return f"estimated memory: {_gigabytes(memory)} per worker at its peak{several} {close}"


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"
