"""What all engines share: they lock cells, store results, record failures and stop cleanly. Each engine decides how and
where a cell is computed."""

import signal
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmark.engine.plan import Job
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.store import CellLock, Failure, Store

TRIES = 2  # of a cell whose worker dies
SECONDS_BETWEEN_LOOKS = 0.5  # at workers, and at cells that another runner has


@dataclass(frozen=True)
class Packed:
    """A finished job as the files that the store writes. It is defined here, so that the process that stores it does
    not import training and metrics."""

    files: dict[str, bytes]
    cell: dict[str, Any]


@dataclass
class RunOutcome:
    """The outcome of the jobs of a run."""

    done: list[Job] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    interrupted: bool = False
    stopped: str = ""  # why the run ended early, other than by an interrupt


Follow = Callable[[Job], list[Job]]
"""The jobs that follow from a finished or failed one, as in a search whose next trial depends on the last."""


def nothing_follows(job: Job) -> list[Job]:
    return []


@dataclass(frozen=True)
class Work:
    """What an engine gets: jobs, how to run them, and where their results and their progress go."""

    jobs: list[Job]
    store: Store
    setting: Setting
    workers: int  # cells at a time; 0 on Ray: as many as fit
    progress: Progress
    follow: Follow = nothing_follows


class GivenUpError(Exception):
    """The run cannot go on."""


class Engine(ABC):
    """The cells of a run and their state so far."""

    def __init__(self, work: Work) -> None:
        self.waiting = deque(sorted(work.jobs, key=lambda job: -job.images))  # no long one runs alone at the end
        self.work, self.store, self.setting, self.progress = work, work.store, work.setting, work.progress
        self.elsewhere: list[Job] = []
        self.tries: dict[str, int] = {}
        self.outcome = RunOutcome()

    @abstractmethod
    def run(self) -> None:
        """Runs until every job is finished or has failed."""

    @abstractmethod
    def close(self) -> None:
        """Stops running cells and releases their locks."""

    def run_and_close(self) -> RunOutcome:
        """Runs all jobs. However it stops, finished cells are stored and the others run the next time."""
        with _terminate_as_interrupt():
            try:
                self.run()
            except KeyboardInterrupt:
                self.outcome.interrupted = True
            except GivenUpError as problem:
                self.outcome.stopped = str(problem)
            except OSError as problem:
                self.outcome.stopped = f"the results could not be written: {problem}"
            finally:
                self.close()
        return self.outcome

    def next_job(self) -> tuple[Job, CellLock] | None:
        """The next job that is free, locked."""
        while self.waiting:
            job = self.waiting.popleft()
            lock = self.store.lock(job.id)
            if lock is None:
                self.elsewhere.append(job)
            elif self.store.has(job.id):  # another runner has finished it in the meantime
                lock.release()
                self._finished(job)
            else:
                return job, lock
        return None

    def take_back_from_other_runners(self) -> None:
        """Checks cells of other runners: one whose lock is free again is finished, or can be run here."""
        held = []
        for job in self.elsewhere:
            lock = self.store.lock(job.id)
            if lock is None:
                held.append(job)
            else:
                lock.release()
                self.waiting.append(job)
        self.elsewhere = held

    def answered(self, job: Job, lock: CellLock, kind: str, content: Any) -> None:
        """("done", Packed) or ("error", reason)."""
        try:
            if kind == "done":
                self.store.save(job.id, content.files, content.cell)
                self._finished(job)
            else:
                self.failed(job, content)
            self.store.checkpoint(job.id).unlink(missing_ok=True)
            self.store.clear_running(job.id)
        finally:
            lock.release()

    def died(self, job: Job, lock: CellLock, how: str) -> None:
        """Handles a job whose worker died: tries it again, or records the failure."""
        self.tries[job.id] = self.tries.get(job.id, 0) + 1
        self.store.clear_running(job.id)
        if self.tries[job.id] < TRIES:
            self.waiting.appendleft(job)
        else:
            self.failed(job, f"its worker died {how}, {TRIES} times")
        lock.release()

    def failed(self, job: Job, reason: str) -> None:
        failure = Failure(job.id, job.name, reason, job.cell.description())
        self.store.record_failure(failure)
        self.outcome.failed.append(failure)
        self.progress.failed(failure)
        self._go_on_from(job)

    def _finished(self, job: Job) -> None:
        self.outcome.done.append(job)
        self.progress.finished(job)
        self._go_on_from(job)

    def _go_on_from(self, job: Job) -> None:
        following = self.work.follow(job)
        self.progress.more(following)
        self.waiting.extend(following)


@contextmanager
def _terminate_as_interrupt() -> Iterator[None]:
    """Makes SIGTERM stop a run like Ctrl-C."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
