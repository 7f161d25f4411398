"""Turns cells into jobs: loads every dataset once, computes the ids of cells, finds those that are stored."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import datasets
import losses
from benchmark import backbones
from benchmark.cell import Cell
from benchmark.code_digest import code_digest
from benchmark.store import DamagedError, Failure, Run, Store


@dataclass(frozen=True)
class Job:
    """A cell with its id and the parts of the id."""

    id: str
    cell: Cell
    dataset_digest: str
    loss_digest: str
    backbone_digest: str
    images: int  # images that a run processes: training images × epochs

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


@dataclass(frozen=True)
class Facts:
    """What planning needs to know about a dataset."""

    digest: str
    images: int  # to train on
    validation: int  # images
    classes: int
    protocol: str
    notes: tuple[str, ...]
    channels: int


def facts_of(dataset: Mapping[str, Any], access: Mapping[str, Any], root: Path | None, test: bool = True) -> Facts:
    """Loads the data, which draws or decodes it the first time."""
    data = load_data(dataset, access, root, test)
    sizes = len(data.train), len(data.val), data.num_classes
    return Facts(data.digest, *sizes, data.protocol, data.notes, data.image_shape[0])


def job_of(cell: Cell, facts: Facts, digest: Callable[[type], str] = code_digest) -> Job:
    digests = facts.digest, digest(losses.get(cell.loss)), digest(backbones.get(cell.backbone))
    return Job(cell.id(*digests), cell, *digests, facts.images * cell.recipe.epochs)


def load_data(
    dataset: Mapping[str, Any], access: Mapping[str, Any], root: Path | None, test: bool = True
) -> datasets.Data:
    """Loads a cell's dataset. Without `test` the test split is empty."""
    data = datasets.load(
        dataset["name"], root=root, seed=dataset["seed"], wrappers=dataset["wrappers"], **dataset["options"], **access
    )
    return data if test else data.without_tests()


def plan(
    cells: Sequence[Cell],
    store: Store,
    root: Path | None,
    retry_failed: bool = False,
    on_dataset: Callable[[str], None] = lambda label: None,
    test: bool = True,
) -> Plan:
    """Loads the data, computes the ids of cells and finds stored runs. Damaged runs are moved away and run again.

    Without `test` the runs never see the test split, and their ids differ from those of runs that do.
    """
    store.clear_leftovers()
    notes: list[str] = []
    seen: dict[str, Facts] = {}
    jobs: dict[str, Job] = {}  # a cell that two rows share is run once
    digest = cache(code_digest)
    for cell in cells:
        key = json.dumps(dict(cell.dataset), sort_keys=True)
        if key not in seen:
            on_dataset(cell.dataset_label)
            seen[key] = facts_of(cell.dataset, cell.access, root, test)
            notes += [f"{cell.dataset_label}: {note}" for note in seen[key].notes]
        cell.recipe.check_channels(seen[key].channels)
        losses.create(cell.loss, num_classes=seen[key].classes, dim=cell.dim, **dict(cell.hyper))
        job = job_of(cell, seen[key], digest)
        jobs.setdefault(job.id, job)
    done, todo, failed = [], [], []
    for job in jobs.values():
        if whole_run(job, store, notes) is not None:
            done.append(job)
        elif (failure := store.failure(job.id)) is not None and not retry_failed:
            failed.append(failure)
        else:
            todo.append(job)
    return Plan(list(jobs.values()), done, todo, failed, notes)


def whole_run(job: Job, store: Store, notes: list[str]) -> Run | None:
    """The job's stored run; None if there is none, or if it was damaged and has been moved away."""
    if not store.has(job.id):
        return None
    try:
        return store.load(job.id)
    except DamagedError as problem:
        held = store.lock(job.id)
        if held is None:  # another runner handles it
            return None
        if store.has(job.id):
            kept = store.set_aside(job.id)
            notes.append(f"{job.name}: {problem}; it is run again, the damaged one is kept in {kept}")
        held.release()
        return None
