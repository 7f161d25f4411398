"""Where worker processes come from: forked from one process that has imported what takes long.

A worker started anew spends a second on importing torch and another one on torch's compiler, which the first optimiser
asks for. Forked, it has both, and so has one that takes a dead one's place. The process that they are forked from is
multiprocessing's fork server: it runs one thread and imports nothing of this project, so that a worker sees the losses
and datasets as they are on disk. CUDA does not outlive a fork, and only on Linux are libraries known to: elsewhere
workers are started anew.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any

IMPORTED = ("torch._dynamo", "safetensors.torch", "scipy.sparse.csgraph", "pandas", "matplotlib", "sklearn.datasets")
MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**30)}
"""Keeps freed memory for the next batch; giving it back costs a page fault for every 4 KB of it."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def open_nursery(device: str) -> None:
    """Begins with the imports; whoever calls this goes on meanwhile."""
    if _can_fork(device):
        from multiprocessing import forkserver

        forkserver.set_forkserver_preload(list(IMPORTED))
        with one_thread_and_kept_memory():
            forkserver.ensure_running()


def start_worker(device: str, target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """A process that computes with one thread and ends with this one.

    `ChildProcessError` if what it is forked from dies just then, which leaves it unknown whether there is a worker; the
    next call opens another nursery.
    """
    open_nursery(device)
    context: Any = multiprocessing.get_context("forkserver" if _can_fork(device) else "spawn")
    try:
        with one_thread_and_kept_memory():
            environment = dict(os.environ)
            process: BaseProcess = context.Process(target=_live, args=(environment, target, *arguments), daemon=True)
            process.start()
    except (EOFError, ConnectionError):
        raise ChildProcessError("the process that workers are forked from has died") from None
    return process


def _live(environment: dict[str, str], target: Callable[..., None], *arguments: Any) -> None:
    """Forked, a process has the environment of when the nursery was opened; the caller's may be another by now."""
    os.environ.clear()
    os.environ.update(environment)
    target(*arguments)


def _can_fork(device: str) -> bool:
    return device == "cpu" and sys.platform == "linux"


@contextmanager
def one_thread_and_kept_memory() -> Iterator[None]:
    """The environment that workers are started in; libraries read it when they are loaded."""
    before = {name: os.environ.get(name) for name in ONE_THREAD | MEMORY}
    os.environ.update(ONE_THREAD | MEMORY)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
