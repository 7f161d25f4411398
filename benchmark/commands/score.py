"""`score EXPERIMENT [--update]`: what it prints, and its exit status."""

from pathlib import Path

import typer
from tqdm import tqdm

from benchmark import rescore
from benchmark.errors import InputError
from benchmark.leaderboard.entry_files import read_entries
from benchmark.leaderboard.make_entry import as_text, complete_entry, write_entry
from benchmark.results import current_runs
from benchmark.spec import Experiment
from benchmark.store import DamagedError, Store, write_summary
from benchmark.text import counted


def compare(experiment: Experiment, results: Path) -> int:
    """Names the metrics that differ from what the stored embeddings give, and those that are not stored yet."""
    runs, damaged = rescore.runs_to_score(Store(results, experiment.name))
    checks = [rescore.check(run) for run in tqdm(runs, desc="score", unit="run", leave=False, disable=None)]
    found = [one for check in checks for one in check.differences]
    for problem in damaged:
        typer.echo(f"damaged: {problem}")
    for one in found:
        typer.echo(f"differs: {one.run} {one.metric}: {one.stored} is stored, {one.recomputed} is computed")
    if lacking := sorted({name for check in checks for name in check.lacking}):
        typer.echo(f"missing: {', '.join(lacking)}: add their metrics with `score {experiment.called} --update`")
    if unknown := sorted({name for check in checks for name in check.unknown}):
        typer.echo(f"not checked: {', '.join(unknown)}: name the file that defines them with --plugin")
    typer.echo(f"{counted(len(runs), 'run')}, {len(found)} metrics differ, {counted(len(damaged), 'damaged run')}")
    return 1 if found or damaged else 0


def update(experiment: Experiment, results: Path) -> int:
    """Adds the metrics that runs and entries lack, and writes summary.csv again."""
    store = Store(results, experiment.name)
    runs, problems = rescore.runs_to_score(store)
    updated = 0
    for run in tqdm(runs, desc="score", unit="run", leave=False, disable=None):
        try:
            updated += rescore.update(store, run.id)
        except (InputError, DamagedError) as problem:
            problems.append(str(problem))
    write_summary(store.folder, current_runs(experiment.cells(), store.load_all()[0]))
    entries = _update_entries(store)
    for reason in problems:
        typer.echo(f"not updated: {reason}")
    typer.echo(f"{counted(len(runs), 'run')}, {updated} updated; {_entries(entries)} updated")
    return 1 if problems else 0


def _entries(count: int) -> str:
    return "1 leaderboard entry" if count == 1 else f"{count:,} leaderboard entries"


def _update_entries(store: Store) -> int:
    """Of the experiment's entries, those whose embeddings are here."""
    folder = store.folder / "entries"
    found = read_entries(folder).sound.values()
    updated = 0
    for entry in tqdm(found, desc="entries", unit="entry", leave=False, disable=None):
        complete = complete_entry(entry, store)
        if as_text(complete) != as_text(entry):
            write_entry(complete, folder)
            updated += 1
    return updated
