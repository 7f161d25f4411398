"""A worker process: runs many cells, keeps their data in memory, and ends with its runner."""

import os
import signal
import sys
import threading
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

KEPT_DATASETS = 2
MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**30)}
"""Keeps freed memory for the next batch; returning it would cost a page fault for every 4 KB."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Setting:
    """What all cells of a run share."""

    root: Path | None
    device: str
    plugins: tuple[Path, ...]
    keep_models: bool
    test: bool = True  # False: the data comes without its test sets
    loaders: int = 0  # threads of each cell that decode images that stay on disk
    warned: tuple[str, ...] = ()  # warnings that the runner has shown: workers do not repeat them


def run_worker(jobs: Connection, runner_lives: Connection, setting: Setting) -> None:
    """Takes (job, checkpoint, status file) and answers ("done", Packed) or ("error", reason) until they end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_runner, args=(runner_lives,), daemon=True).start()
    import torch

    from benchmark.engine.job import run_job
    from benchmark.engine.plan import Job, load_data
    from benchmark.plugins import load_plugin
    from benchmark.warning_lines import show_as_lines

    show_as_lines(setting.warned)
    torch.set_num_threads(1)
    for plugin in setting.plugins:
        load_plugin(plugin)
    loaded: dict[str, Any] = {}
    jobs.send(("ready", None))
    while True:
        try:
            task = jobs.recv()
        except EOFError:
            return
        job, checkpoint, status = task
        assert isinstance(job, Job)
        try:
            if job.dataset_digest not in loaded:
                while len(loaded) >= KEPT_DATASETS:
                    loaded.pop(next(iter(loaded)))
                cell = job.cell
                loaded[job.dataset_digest] = load_data(cell.dataset, cell.access, setting.root, setting.test)
            data = loaded[job.dataset_digest]
            answer: tuple[str, Any] = (
                "done",
                run_job(job, data, setting.device, checkpoint, setting.keep_models, setting.loaders, status),
            )
        except Exception as problem:
            answer = ("error", reason(problem))
        jobs.send(answer)


def _end_with_the_runner(runner_lives: Connection) -> None:
    """Ends this process when its runner is killed; otherwise a cell could run twice at the same time."""
    try:
        runner_lives.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def reason(problem: Exception) -> str:
    """The error, and the last line of the traceback that is not in a library."""
    frames = traceback.extract_tb(sys.exc_info()[2])
    own = [frame for frame in frames if "site-packages" not in frame.filename]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{type(problem).__name__}: {problem}{where}"
