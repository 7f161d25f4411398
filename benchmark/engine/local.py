"""The local engine: a pool of worker processes; this process alone stores their results."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from benchmark.engine.base import SECONDS_BETWEEN_LOOKS, Engine, GivenUpError, RunOutcome, Work
from benchmark.engine.plan import Job
from benchmark.engine.worker import MEMORY, ONE_THREAD, Setting, run_worker
from benchmark.store import CellLock

DEATHS_AT_START = 5  # in a row, after which the run gives up


@dataclass
class _Worker:
    process: Any
    jobs: Connection
    lives: Connection  # closes with this process, however it ends
    job: Job | None = None
    lock: CellLock | None = None
    ready: bool = False


def run_local(work: Work) -> RunOutcome:
    """Runs the jobs. However it stops, finished cells are stored and the others run the next time."""
    return _Pool(work).run_and_close()


class _Pool(Engine):
    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self.size = max(1, min(work.workers, len(work.jobs)))
        self.workers: list[_Worker] = []
        self.deaths_at_start = 0

    def run(self) -> None:
        while self.waiting or self.elsewhere or any(worker.job for worker in self.workers):
            if not self.waiting:
                self.take_back_from_other_runners()
            self._hire()
            for worker in self.workers:
                if worker.ready and worker.job is None:
                    self._give(worker)
            self._hear()

    def _hire(self) -> None:
        busy = sum(worker.job is not None for worker in self.workers)
        for _ in range(min(self.size, busy + len(self.waiting)) - len(self.workers)):
            self.workers.append(_start(self.setting))

    def _give(self, worker: _Worker) -> None:
        """Hands the next free job to an idle worker."""
        found = self.next_job()
        if found is None:
            return
        worker.job, worker.lock = job, _ = found
        with suppress(OSError):  # if it has died, its sentinel reports that
            worker.jobs.send((job, self.store.checkpoint(job.id), self.store.status(job.id)))
        self.progress.running({other.job.name: self.store.status(other.job.id) for other in self.workers if other.job})

    def _hear(self) -> None:
        """Waits briefly for the workers, and handles those that answered or died."""
        if not self.workers:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        sources = [worker.jobs for worker in self.workers] + [worker.process.sentinel for worker in self.workers]
        ready = set(wait(sources, timeout=SECONDS_BETWEEN_LOOKS)) if sources else set()
        for worker in list(self.workers):
            if worker.jobs in ready:
                try:
                    answer = worker.jobs.recv()
                except (EOFError, OSError):  # it died, perhaps in the middle of its answer
                    self._ended(worker)
                else:
                    self._heard(worker, *answer)
            elif worker.process.sentinel in ready:
                self._ended(worker)
        self.progress.tick()

    def _heard(self, worker: _Worker, kind: str, content: Any) -> None:
        job, lock = worker.job, worker.lock
        worker.ready, self.deaths_at_start = True, 0
        if job is None or lock is None:
            return
        worker.job, worker.lock = None, None
        self.answered(job, lock, kind, content)

    def _ended(self, worker: _Worker) -> None:
        worker.process.join(timeout=5)
        worker.process.kill()
        worker.process.join()
        code = worker.process.exitcode
        how = f"by signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"with exit code {code}"
        self.workers.remove(worker)
        _dismiss(worker)
        if worker.job is not None and worker.lock is not None:
            self.died(worker.job, worker.lock, how)
            return
        self.deaths_at_start += not worker.ready
        if self.deaths_at_start >= DEATHS_AT_START:
            raise GivenUpError(f"{DEATHS_AT_START} workers in a row ended {how} before their first cell")

    def close(self) -> None:
        for worker in self.workers:
            worker.process.kill() if worker.job else worker.process.terminate()
        for worker in self.workers:
            worker.process.join(timeout=5)
            _dismiss(worker)
            if worker.lock:
                worker.lock.release()
        self.workers.clear()


@contextmanager
def one_thread_and_kept_memory() -> Iterator[None]:
    """The environment variables of workers; libraries read them when they are loaded."""
    before = {name: os.environ.get(name) for name in ONE_THREAD | MEMORY}
    os.environ.update(ONE_THREAD | MEMORY)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _start(setting: Setting) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    lives, watched = context.Pipe()
    process = context.Process(target=run_worker, args=(theirs, watched, setting), daemon=True)
    with one_thread_and_kept_memory():
        process.start()
    theirs.close()
    watched.close()
    return _Worker(process, ours, lives)


def _dismiss(worker: _Worker) -> None:
    worker.jobs.close()
    worker.lives.close()
