"""From cells to jobs: every dataset is loaded once, which renders or decodes it once, and cells get their ids."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import losses
from benchmark.cell import Cell
from benchmark.engine.loss_source import without_search
from benchmark.store import DamagedError, Failure, Store


@dataclass(frozen=True)
class Job:
    """A cell with its id and what the id was made from."""

    id: str
    cell: Cell
    dataset_digest: str
    loss_digest: str
    images: int  # that a run goes through: training images × epochs

    @property
    def name(self) -> str:
        return self.cell.title


@dataclass(frozen=True)
class Plan:
    """What there is to do."""

    jobs: list[Job]
    done: list[Job]
    todo: list[Job]
    failed_before: list[Failure]
    notes: list[str]


def load_data(
    dataset: Mapping[str, Any], access: Mapping[str, Any], root: Path | None, test: bool = True
) -> datasets.Data:
    """A cell's dataset. Without `test`, nothing that has it afterwards can look at its test split."""
    data = datasets.load(
        dataset["name"],
        root=root,
        seed=dataset["seed"],
        wrappers=dataset["wrappers"],
        **dataset["options"],
        **access,
    )
    return data if test else data.without_test()


def loss_digest(name: str) -> str:
    """Of the file that the loss is defined in, its `search` apart: an edited loss is a new cell."""
    source = inspect.getsourcefile(losses.get(name))
    if source is None:
        raise ValueError(f"the loss {name!r} was not defined in a file, so its cells cannot be told apart")
    return hashlib.sha256(without_search(Path(source).read_bytes())).hexdigest()


def plan(
    cells: Sequence[Cell],
    store: Store,
    root: Path | None,
    retry_failed: bool = False,
    on_dataset: Callable[[str], None] = lambda label: None,
    test: bool = True,
) -> Plan:
    """Loads the data, names the cells and looks at what is stored. Damaged runs are set aside and done again.

    Without `test` the cells are runs that never see the test split; their ids differ from those of runs that do.
    """
    store.clear_leftovers()
    notes: list[str] = []
    seen: dict[str, tuple[str, int, int, str]] = {}
    jobs = []
    for cell in cells:
        key = json.dumps(dict(cell.dataset), sort_keys=True)
        if key not in seen:
            on_dataset(cell.dataset_label)
            data = load_data(cell.dataset, cell.access, root, test)
            seen[key] = (data.digest, len(data.train), data.num_classes, data.protocol)
            notes += [f"{cell.dataset_label}: {note}" for note in data.notes]
        digest, images, classes, _ = seen[key]
        losses.create(cell.loss, num_classes=classes, dim=cell.dim, **dict(cell.hyper))
        of_loss = loss_digest(cell.loss)
        jobs.append(Job(cell.id(digest, of_loss), cell, digest, of_loss, images * cell.recipe.epochs))
    done, todo, failed = [], [], []
    for job in jobs:
        if _is_whole(job, store, notes):
            done.append(job)
        elif (failure := store.failure(job.id)) is not None and not retry_failed:
            failed.append(failure)
        else:
            todo.append(job)
    return Plan(jobs, done, todo, failed, notes)


def _is_whole(job: Job, store: Store, notes: list[str]) -> bool:
    if not store.has(job.id):
        return False
    try:
        store.load(job.id)
    except DamagedError as problem:
        held = store.claim(job.id)
        if held is None:  # another runner deals with it
            return False
        if store.has(job.id):
            kept = store.set_aside(job.id)
            notes.append(f"{job.name}: {problem}; it is run again, the damaged one is kept in {kept}")
        held.release()
        return False
    return True
