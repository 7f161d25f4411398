"""The local engine: a pool of worker processes, and one writer, this process, that stores what they hand back."""

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from benchmark.engine.plan import Job
from benchmark.engine.progress import Progress
from benchmark.engine.worker import MEMORY, ONE_THREAD, Setting, work
from benchmark.store import Claim, Failure, Store

TRIES = 2  # of a cell whose worker dies
DEATHS_AT_START = 5  # in a row, after which starting more is of no use
SECONDS_BETWEEN_LOOKS = 0.5  # at cells that another runner has


@dataclass
class Outcome:
    """What became of the jobs of a run."""

    done: list[Job] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    stopped: str = ""  # why the run ended early; empty if it did not


@dataclass
class _Worker:
    process: Any
    jobs: Connection
    lives: Connection  # closed with this process, however it ends
    job: Job | None = None
    claim: Claim | None = None
    ready: bool = False


class WorkersDieError(Exception):
    """No worker lives long enough to take a cell."""


Follow = Callable[[Job], list[Job]]
"""The jobs that a finished or failed one brings with it, as a search does whose next trial depends on the last."""


def nothing_follows(job: Job) -> list[Job]:
    return []


def run_local(
    jobs: list[Job],
    store: Store,
    setting: Setting,
    workers: int,
    progress: Progress,
    follow: Follow = nothing_follows,
) -> Outcome:
    """Runs the jobs. Whatever stops it, what is finished is stored and what is under way is run the next time."""
    pool = _Pool(jobs, store, setting, workers, progress, follow)
    with _terminate_as_interrupt():
        try:
            pool.run()
        except KeyboardInterrupt:
            pool.outcome.stopped = "interrupted"
        except WorkersDieError as problem:
            pool.outcome.stopped = str(problem)
        except OSError as problem:
            pool.outcome.stopped = f"the results could not be written: {problem}"
        finally:
            pool.close()
    return pool.outcome


class _Pool:
    def __init__(
        self,
        jobs: list[Job],
        store: Store,
        setting: Setting,
        workers: int,
        progress: Progress,
        follow: Follow = nothing_follows,
    ) -> None:
        self.waiting = deque(sorted(jobs, key=lambda job: -job.images))  # long ones first: none comes last alone
        self.store, self.setting, self.progress, self.follow = store, setting, progress, follow
        self.size = max(1, min(workers, len(jobs)))
        self.workers: list[_Worker] = []
        self.tries: dict[str, int] = {}
        self.deaths_at_start = 0
        self.outcome = Outcome()
        self.elsewhere: list[Job] = []

    def run(self) -> None:
        while self.waiting or self.elsewhere or any(worker.job for worker in self.workers):
            if not self.waiting:
                self._take_back_from_other_runners()
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
        while self.waiting:
            job = self.waiting.popleft()
            claim = self.store.claim(job.id)
            if claim is None:
                self.elsewhere.append(job)
            elif self.store.has(job.id):  # another runner finished it since we looked
                claim.release()
                self._finished(job)
            else:
                worker.job, worker.claim = job, claim
                with suppress(OSError):  # if it has died, its sentinel will say so
                    worker.jobs.send((job, self.store.checkpoint(job.id)))
                self.progress.running([other.job.name for other in self.workers if other.job])
                return

    def _take_back_from_other_runners(self) -> None:
        """A cell whose claim is free again was finished by its runner, or is ours to run."""
        held = []
        for job in self.elsewhere:
            claim = self.store.claim(job.id)
            if claim is None:
                held.append(job)
            else:
                claim.release()
                self.waiting.append(job)
        self.elsewhere = held

    def _hear(self) -> None:
        """Waits a little for the workers, and deals with each that answered or died."""
        if not self.workers:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        sources = [worker.jobs for worker in self.workers] + [worker.process.sentinel for worker in self.workers]
        ready = set(wait(sources, timeout=SECONDS_BETWEEN_LOOKS)) if sources else set()
        for worker in list(self.workers):
            if worker.jobs in ready:
                try:
                    answer = worker.jobs.recv()
                except (EOFError, OSError):  # it died, perhaps in the middle of its answer
                    self._died(worker)
                else:
                    self._answered(worker, *answer)
            elif worker.process.sentinel in ready:
                self._died(worker)
        self.progress.tick()

    def _answered(self, worker: _Worker, kind: str, content: Any) -> None:
        job, claim = worker.job, worker.claim
        worker.ready, self.deaths_at_start = True, 0
        if job is None or claim is None:
            return
        try:
            if kind == "done":
                self.store.save(job.id, content.files, content.cell)
                self._finished(job)
            else:
                self._failed(job, content)
            self.store.checkpoint(job.id).unlink(missing_ok=True)
        finally:
            worker.job, worker.claim = None, None
            claim.release()

    def _died(self, worker: _Worker) -> None:
        worker.process.join(timeout=5)
        worker.process.kill()
        worker.process.join()
        code = worker.process.exitcode
        how = f"by signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"with exit code {code}"
        self.workers.remove(worker)
        _dismiss(worker)
        job, claim = worker.job, worker.claim
        if job is None or claim is None:
            self.deaths_at_start += not worker.ready
            if self.deaths_at_start >= DEATHS_AT_START:
                raise WorkersDieError(f"{DEATHS_AT_START} workers in a row ended {how} before their first cell")
            return
        self.tries[job.id] = self.tries.get(job.id, 0) + 1
        if self.tries[job.id] < TRIES:
            self.waiting.appendleft(job)
        else:
            self._failed(job, f"its worker died {how}, {TRIES} times")
        claim.release()

    def _finished(self, job: Job) -> None:
        self.outcome.done.append(job)
        self.progress.finished(job)
        self._go_on_from(job)

    def _failed(self, job: Job, reason: str) -> None:
        failure = Failure(job.id, job.name, reason)
        self.store.record_failure(failure)
        self.outcome.failed.append(failure)
        self.progress.failed(failure)
        self._go_on_from(job)

    def _go_on_from(self, job: Job) -> None:
        following = self.follow(job)
        self.progress.more(following)
        self.waiting.extend(following)

    def close(self) -> None:
        for worker in self.workers:
            worker.process.kill() if worker.job else worker.process.terminate()
        for worker in self.workers:
            worker.process.join(timeout=5)
            _dismiss(worker)
            if worker.claim:
                worker.claim.release()
        self.workers.clear()


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


def _start(setting: Setting) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    lives, watched = context.Pipe()
    process = context.Process(target=work, args=(theirs, watched, setting), daemon=True)
    with one_thread_and_kept_memory():
        process.start()
    theirs.close()
    watched.close()
    return _Worker(process, ours, lives)


def _dismiss(worker: _Worker) -> None:
    worker.jobs.close()
    worker.lives.close()


@contextmanager
def _terminate_as_interrupt() -> Iterator[None]:
    """SIGTERM stops a run as Ctrl-C does."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
