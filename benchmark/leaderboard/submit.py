"""`leaderboard [LOSS…]`: audits a loss, trains its missing cells and writes its entry."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tqdm import tqdm

import losses
from benchmark import backbones, run_experiment, spec
from benchmark.audit import CHECKS, CheckOutcome, as_table, audit
from benchmark.cell import Cell
from benchmark.code_digest import backbone_digest, loss_digest
from benchmark.engine import Job
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import Entries, read_entries
from benchmark.leaderboard.make_entry import make_entry, source_of, write_entry
from benchmark.leaderboard.standings import Standings, name_of, standings
from benchmark.leaderboard.verify import verify
from benchmark.options import RunOptions
from benchmark.run_experiment import say
from benchmark.spec import Experiment, LossRow
from benchmark.store import Store


@dataclass(frozen=True)
class Submitted:
    """The requested entries that now exist, and the exit status."""

    entries: list[Entry]
    status: int


def submit(name: str, options: RunOptions, folder: Path) -> Submitted:
    """Makes the missing entries. A loss that fails its audit or a cell gets none; the others do."""
    run_experiment.check_engine(options)
    experiment = experiment_of(name, options.losses)
    rows = [row for row in experiment.losses if options.losses is None or row.name in options.losses]
    known = read_entries(folder)
    lacking = [row for row in rows if not _is_entered(row, experiment, known)]
    audits = _audit({row.name for row in lacking})
    failed = [name for name, outcomes in audits.items() if any(outcome.verdict == "fail" for outcome in outcomes)]
    for name in failed:
        say(f"{name} fails its audit and is not run:\n{as_table(audits[name])}")
    status = _train([row for row in lacking if row.name not in failed], experiment, options, audits, folder)
    made = read_entries(folder)
    names = [name_of(row, experiment) for row in rows if _is_entered(row, experiment, made)]
    return Submitted([made.sound[name] for name in names], max(status, 1 if failed else 0))


def experiment_of(name: str, chosen: Sequence[str] | None) -> Experiment:
    """The experiment; chosen losses that it does not list are added with their own defaults."""
    for loss in chosen or []:
        losses.get(loss)
    experiment = spec.load(name).without_tuned  # an entry has one setting for all datasets
    listed = {row.name for row in experiment.losses}
    new = [LossRow(loss, loss, {}) for loss in chosen or [] if loss not in listed]
    return replace(experiment, losses=(*experiment.losses, *new))


def current(experiment: Experiment, folder: Path, results: Path) -> tuple[Standings, Entries]:
    """The standings of the entries in a folder. An entry that contradicts a stored run is refused."""
    found = read_entries(folder)
    store = Store(results, experiment.name)
    for name, entry in list(found.sound.items()):
        problems = [*_wrong_settings(entry), *verify(entry, store, recompute=False).problems]
        if problems:
            del found.sound[name]
            found.refused[f"{name}.json"] = problems[0]
    of_losses = {name: loss_digest(name) for name in losses.names() if source_of(name) == "repository"}
    of_backbones = {name: backbone_digest(name) for name in backbones.names()}
    return standings(found.sound, experiment, of_losses, of_backbones), found


def _wrong_settings(entry: Entry) -> Iterator[str]:
    """The settings that the loss of this name, if it exists here, does not accept."""
    if entry.loss in losses.names():
        try:
            losses.create(entry.loss, num_classes=10, dim=8, **entry.hyper)
        except ValueError as problem:
            yield str(problem)


def _is_entered(row: LossRow, experiment: Experiment, known: Entries) -> bool:
    entry = known.sound.get(name_of(row, experiment))
    if entry is None or entry.loss_digest != loss_digest(row.name):
        return False
    return all(result.backbone_digest == backbone_digest(result.backbone) for result in entry.results)


def _audit(names: Iterable[str]) -> dict[str, list[CheckOutcome]]:
    torch.set_num_threads(1)
    chosen = sorted(names)
    progress = tqdm(audit(chosen), total=len(chosen) * len(CHECKS), desc="audit", leave=False, disable=None)
    found: dict[str, list[CheckOutcome]] = {name: [] for name in chosen}
    for outcome in progress:
        found[outcome.loss].append(outcome)
    return found


def _train(
    rows: list[LossRow],
    experiment: Experiment,
    options: RunOptions,
    audits: dict[str, list[CheckOutcome]],
    folder: Path,
) -> int:
    """Trains what is missing and writes the entries of complete losses; returns the exit status."""
    if not rows:
        return 0
    store = Store(options.results, experiment.name)
    cells = [cell for cell in experiment.cells() if any(_belongs(cell, row) for row in rows)]
    todo = run_experiment.plan_run(cells, store, experiment.name, replace(options, retry_failed=True), say)
    status = run_experiment.verdict(todo, run_experiment.run_jobs(todo, store, options))
    for row in rows:
        jobs = [job for job in todo.jobs if _belongs(job.cell, row)]
        status = max(status, _enter(row, jobs, store, audits[row.name], folder))
    return status


def _belongs(cell: Cell, row: LossRow) -> bool:
    return cell.loss == row.name and dict(cell.hyper) == dict(row.hyper)


def _enter(row: LossRow, jobs: list[Job], store: Store, audited: list[CheckOutcome], folder: Path) -> int:
    lacking = [job for job in jobs if not store.has(job.id)]
    if lacking:
        say(f"{row.label}: {len(lacking)} of {len(jobs)} cells have no result, so it gets no entry")
        return 1
    try:
        entry = make_entry([store.load(job.id) for job in jobs], audited)
    except ValueError as problem:
        say(str(problem))
        return 1
    say(f"entry: {write_entry(entry, folder)}")
    return 0
