"""`run EXPERIMENT`: from an experiment's name to stored results, a summary file and an answer on the screen."""

import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark import spec
from benchmark.cell import Cell
from benchmark.engine import Plan, RunOutcome, Work, plan, run_local
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.errors import InputError
from benchmark.metrics import main_column
from benchmark.options import INTERRUPTED, RunOptions
from benchmark.plugins import load_plugin
from benchmark.results import by_test_set, current_runs, described, tidy
from benchmark.store import Run, Store, write_summary
from benchmark.text import counted, duration, in_natural_order
from benchmark.training import check_device
from benchmark.warning_lines import shown_so_far
from datasets._errors import MissingDataError

Named = str | Path | spec.Experiment


@dataclass(frozen=True)
class FinishedRun:
    """What a run did, and what is stored now."""

    experiment: spec.Experiment
    plan: Plan
    outcome: RunOutcome
    runs: list[Run]  # the experiment's, those of earlier runs included
    store: Store
    status: int  # for the shell

    def as_data(self) -> dict[str, Any]:
        """Counts and places, for JSON. Counts are of the cells that were asked for."""
        asked = {job.id for job in self.plan.jobs}
        stored = {run.id: run for run in self.runs if run.id in asked}
        failed = [*self.plan.failed_before, *self.outcome.failed]
        return {
            "experiment": self.experiment.name,
            "overrides": list(self.experiment.overrides),
            "status": self.status,
            "cells": len(asked),
            "done": len(stored),
            "trained_now": len(self.outcome.done),
            "failed": len(failed),
            "failures": [{"cell": failure.name, "reason": failure.reason} for failure in failed],
            "diverged": sum(run.diverged_at is not None for run in stored.values()),
            "results": str(self.store.folder),
            "summary": str(self.store.folder / "summary.csv"),
        }


def run(experiment: Named, options: RunOptions, *, overview: bool = True, quiet: bool = False) -> int:
    """Runs what has no result yet; the exit status.

    `overview` shows the means at the end. `quiet`, for notebooks and scripts, shows only what went wrong.
    """
    finished = carry_out(experiment, options, quiet)
    if overview and not quiet:
        folder = finished.store.folder
        print(overview_of(finished.runs))
        print(f"\nresults: {folder}\nsummary: {folder / 'summary.csv'}")
    return finished.status


def carry_out(experiment: Named, options: RunOptions, quiet: bool = False) -> FinishedRun:
    """Runs what has no result yet and writes summary.csv. Says how far it is and what went wrong on stderr."""
    check_engine(options)
    for plugin in options.plugins:
        load_plugin(plugin)
    experiment = spec.load(experiment)
    store = Store(options.results, experiment.name)
    tell = _say_nothing if quiet else say
    if experiment.overrides:
        tell(f"overrides: {', '.join(experiment.overrides)}")
    try:
        todo = plan_run(cells_of(experiment, options), store, experiment.name, options, tell)
    except MissingDataError as problem:
        raise MissingDataError(f"{problem}{_how_to_edit(experiment)}") from problem
    begun = time.monotonic()
    outcome = run_jobs(todo, store, options, quiet)
    planned = {described(job.cell.description()): job.id for job in todo.jobs}
    runs = current_runs(experiment.cells(), store.load_all()[0], planned)
    try:
        write_summary(store.folder, runs)
    except OSError as problem:
        outcome.stopped = outcome.stopped or f"the summary could not be written: {problem}"
    if outcome.done:
        cells, seconds = counted(len(outcome.done), "cell"), duration(time.monotonic() - begun)
        tell(f"{cells} in {seconds} {on_what(options, len(todo.todo))}")
    return FinishedRun(experiment, todo, outcome, runs, store, verdict(todo, outcome))


def _how_to_edit(experiment: spec.Experiment) -> str:
    """A built-in experiment's file is part of MarginBench: people change a copy."""
    if experiment.called != experiment.name:
        return ""
    copy = f"my-{experiment.path.name}"
    return f"\n{experiment.name} is built in: to change it, copy {experiment.path} to {copy} and run {copy}"


def cells_of(experiment: spec.Experiment, options: RunOptions) -> list[Cell]:
    return experiment.cells(losses=options.losses, datasets=options.datasets, seeds=options.seeds)


def plan_run(cells: list[Cell], store: Store, name: str, options: RunOptions, tell: Callable[[str], None]) -> Plan:
    """Which of the cells are to be run, with notes and counts on the screen."""
    todo = plan(cells, store, options.data, options.retry_failed, lambda label: tell(f"loading {label} …"))
    for note in todo.notes:
        say(f"note: {note}")
    tell(f"{name}: {counted(len(todo.jobs), 'cell')}, {len(todo.done):,} with a result, {len(todo.todo):,} to run")
    return todo


def run_jobs(todo: Plan, store: Store, options: RunOptions, quiet: bool = False) -> RunOutcome:
    """Runs what is to be run, with progress on the screen."""
    if not todo.todo:
        return RunOutcome()
    workers = options.workers_for(len(todo.todo))
    progress = Progress(todo.todo, workers, io.StringIO() if quiet else sys.stderr)
    return run_work(Work(todo.todo, store, setting_of(options), workers, progress), options)


def setting_of(options: RunOptions) -> Setting:
    plugins = tuple(plugin.resolve() for plugin in options.plugins)
    return Setting(options.data, options.device, plugins, options.keep_models, warned=shown_so_far())


def run_work(work: Work, options: RunOptions) -> RunOutcome:
    """On the engine that the options, which were checked, name."""
    try:
        if options.engine == "local":
            return run_local(work)
        from benchmark.engine.ray_engine import run_ray

        return run_ray(work, options.ray_address)
    finally:
        work.progress.close()


def check_engine(options: RunOptions) -> None:
    """`InputError` or `ConnectionError` if cells cannot be run as the options ask."""
    if options.engine == "ray":
        from benchmark.engine import ray_cluster

        ray_cluster.check(options.ray_address, options.device)
        return
    if options.engine != "local":
        raise InputError(f"--engine {options.engine}: expected local or ray")
    if options.ray_address is not None:
        raise InputError(f"--ray-address {options.ray_address} needs --engine ray")
    check_device(options.device)


def on_what(options: RunOptions, jobs: int) -> str:
    return f"on {counted(options.workers_for(jobs), 'worker')}" if options.engine == "local" else "on Ray"


def overview_of(runs: list[Run]) -> str:
    """Mean over the seeds of the main metric, loss by dataset."""
    table = tidy(by_test_set(runs))
    columns = {}
    for dataset in in_natural_order(table["dataset"].unique()):
        rows = table[table["dataset"] == dataset]
        column = main_column(rows)
        if column is not None:
            columns[f"{dataset}: {column.title.lower()}"] = column.factor * rows.groupby("loss")[column.key].mean()
    if not columns:
        return "No run has a metric to show yet."
    shown = pd.DataFrame(columns).round(2)
    diverged = table[table["status"] == "diverged"].groupby("loss").size()
    if len(diverged):
        shown["diverged runs"] = diverged.reindex(shown.index).fillna(0).astype(int)
    seeds = table["seed"].nunique()
    shown.index.name = None
    caption = f"Mean over {counted(seeds, 'seed')}. The report says which differences are significant."
    return f"{caption}\n{shown.to_string(na_rep='–')}"


def verdict(todo: Plan, outcome: RunOutcome) -> int:
    """The exit status, with what failed said."""
    failed = [*todo.failed_before, *outcome.failed]
    for failure in failed:
        say(f"failed: {failure.name}: {failure.reason}")
    if todo.failed_before:
        say("add --retry-failed to run again the cells that failed in an earlier run")
    return stopped(outcome) or (1 if failed else 0)


def stopped(outcome: RunOutcome) -> int:
    """The exit status of a run that ended early, with the reason said; 0 if it did not."""
    if not outcome.interrupted and not outcome.stopped:
        return 0
    say(f"stopped: {outcome.stopped or 'interrupted'}; finished cells are kept, and the same command continues")
    return INTERRUPTED if outcome.interrupted else 1


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_nothing(text: str) -> None:
    """In place of `say`, for a quiet run."""
