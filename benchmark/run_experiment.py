"""`run EXPERIMENT`: from an experiment's name to stored results, a summary file and an answer on the screen."""

import io
import json
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pandas as pd

from benchmark import spec
from benchmark.cell import Cell
from benchmark.engine import Follow, Job, Plan, RunOutcome, nothing_follows, plan, run_local
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.errors import InputError
from benchmark.metrics import primary
from benchmark.results import current_runs, tidy
from benchmark.store import Run, Store, summary_table, write_atomically
from benchmark.text import duration
from benchmark.training import check_device

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


@dataclass(frozen=True)
class RunRequest:
    """What the command line asked for."""

    experiment: str | Path | spec.Experiment
    results: Path
    data: Path | None
    losses: list[str] | None = None
    datasets: list[str] | None = None
    seeds: list[int] | None = None
    workers: int = 1  # cells at a time; 0, on Ray: as many as there is room for
    engine: str = "local"  # or "ray"
    ray_address: str | None = None  # auto or HOST:PORT; None: a cluster of our own
    device: str = "cpu"
    plugins: tuple[Path, ...] = ()
    keep_models: bool = False
    retry_failed: bool = False
    show_overview: bool = True  # at the end, of the means; whoever has a table of their own to show says False
    quiet: bool = False  # nothing is said but what went wrong, for notebooks and scripts


def dry_run(request: RunRequest) -> str:
    """The cells of a run, a line each, with an estimate of their time."""
    cells = _cells(request)
    seconds = spec.estimate_seconds(cells)
    lines = [spec.cell_line(cell, one) for cell, one in zip(cells, seconds, strict=True)]
    return "\n".join([*lines, f"{len(cells)} cells, {spec.in_words(seconds)} on one core"])


def run(request: RunRequest) -> int:
    """Runs what has no result yet; the exit status."""
    check_engine(request)
    experiment = spec.load(request.experiment)
    cells = _cells(request)
    store = Store(request.results, experiment.name)
    tell = _say_nothing if request.quiet else say
    todo = plan(cells, store, request.data, request.retry_failed, lambda label: tell(f"loading {label} …"))
    for note in todo.notes:
        say(f"note: {note}")
    workers = min(request.workers, max(1, len(todo.todo)))
    tell(f"{experiment.name}: {len(todo.jobs)} cells, {len(todo.done)} with a result, {len(todo.todo)} to run")
    begun = time.monotonic()
    outcome = run_jobs(todo, store, request, workers)
    planned = {json.dumps(job.cell.description(), sort_keys=True): job.id for job in todo.jobs}
    runs = current_runs(experiment.cells(), store.load_all()[0], planned)
    try:
        write_atomically(store.folder / "summary.csv", summary_table(runs).to_csv(index=False).encode())
    except OSError as problem:
        outcome.stopped = outcome.stopped or f"the summary could not be written: {problem}"
    if outcome.done:
        tell(f"{len(outcome.done)} cells in {duration(time.monotonic() - begun)} {on_what(request, workers)}")
    if request.show_overview and not request.quiet:
        print(overview(runs))
        print(f"\nresults: {store.folder}\nsummary: {store.folder / 'summary.csv'}")
    return verdict(todo, outcome)


def _cells(request: RunRequest) -> list[Cell]:
    experiment = spec.load(request.experiment)
    return experiment.cells(losses=request.losses, datasets=request.datasets, seeds=request.seeds)


def run_jobs(todo: Plan, store: Store, request: RunRequest, workers: int) -> RunOutcome:
    """Runs what is to be run, with progress on the screen."""
    if not todo.todo:
        return RunOutcome()
    setting = Setting(request.data, request.device, request.plugins, request.keep_models)
    progress = Progress(todo.todo, workers, io.StringIO() if request.quiet else sys.stderr)
    try:
        return engine_of(request)(todo.todo, store, setting, workers, progress)
    finally:
        progress.close()


class RunJobs(Protocol):
    """An engine, `run_local` or one like it."""

    def __call__(
        self,
        jobs: list[Job],
        store: Store,
        setting: Setting,
        workers: int,
        progress: Progress,
        follow: Follow = nothing_follows,
    ) -> RunOutcome: ...


class Placed(Protocol):
    """A request, for what it says of where its cells run."""

    @property
    def engine(self) -> str: ...
    @property
    def ray_address(self) -> str | None: ...
    @property
    def device(self) -> str: ...


def check_engine(request: Placed) -> None:
    """ValueError or ConnectionError where cells could not be run as they are asked to be."""
    if request.engine == "ray":
        from benchmark.engine import ray_cluster

        ray_cluster.check(request.ray_address, request.device)
        return
    if request.engine != "local":
        raise InputError(f"--engine {request.engine}: expected local or ray")
    if request.ray_address is not None:
        raise InputError(f"--ray-address {request.ray_address} needs --engine ray")
    check_device(request.device)


def engine_of(request: Placed) -> RunJobs:
    """What runs the jobs of a request that was checked."""
    if request.engine == "local":
        return run_local
    from benchmark.engine.ray_engine import run_ray

    return partial(run_ray, address=request.ray_address)


def on_what(request: Placed, workers: int) -> str:
    return f"on {workers} worker(s)" if request.engine == "local" else "on Ray"


def overview(runs: list[Run]) -> str:
    """Mean over the seeds of the figure that people look at first, loss by dataset."""
    table = tidy(runs)
    columns = {}
    for dataset, rows in table.groupby("dataset", sort=True):
        figure = primary(rows)
        if figure is not None:
            columns[f"{dataset}: {figure.title.lower()}"] = figure.factor * rows.groupby("loss")[figure.key].mean()
    if not columns:
        return "no run has a figure to show yet"
    shown = pd.DataFrame(columns).round(2)
    diverged = table[table["status"] == "diverged"].groupby("loss").size()
    if len(diverged):
        shown["diverged runs"] = diverged.reindex(shown.index).fillna(0).astype(int)
    seeds = table["seed"].nunique()
    shown.index.name = None
    caption = f"mean over {seeds} seed(s); which differences are real is for the report to say"
    return f"{caption}\n{shown.to_string(na_rep='–')}"


def verdict(todo: Plan, outcome: RunOutcome) -> int:
    """The exit status, with what failed said."""
    failed = [*todo.failed_before, *outcome.failed]
    for failure in failed:
        say(f"failed: {failure.name}: {failure.reason}")
    if todo.failed_before:
        say("cells that failed in an earlier run are tried again with --retry-failed")
    if outcome.stopped:
        say(f"stopped: {outcome.stopped}; what is finished is kept, run again to go on")
        return INTERRUPTED if outcome.stopped == "interrupted" else 1
    return 1 if failed else 0


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_nothing(text: str) -> None:
    """In place of `say`, for a quiet run."""
