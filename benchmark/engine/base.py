"""What every engine does with its cells: takes those that nobody else runs, stores results, records failures, stops
in good order. How a cell is computed, and where, is the engine's own."""

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
    """A finished job as the files that the store writes. It stands here, not with what makes it, so that the process
    that stores it need not import what training and metrics do."""

    files: dict[str, bytes]
    cell: dict[str, Any]


@dataclass
class RunOutcome:
    """What became of the jobs of a run."""

    done: list[Job] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    interrupted: bool = False
    stopped: str = ""  # why the run ended early, if it was not interrupted and did


Follow = Callable[[Job], list[Job]]
"""The jobs that a finished or failed one brings with it, as a search does whose next trial depends on the last."""


def nothing_follows(job: Job) -> list[Job]:
    return []


@dataclass(frozen=True)
class Work:
    """What an engine gets: jobs, how to run them, and where their results and their progress go."""

    jobs: list[Job]
    store: Store
    setting: Setting
    workers: int  # cells at a time; 0, on Ray: as many as there is room for
    progress: Progress
    follow: Follow = nothing_follows


class GivenUpError(Exception):
    """The run cannot go on."""


class Engine(ABC):
    """The cells of a run and what has become of them so far."""

    def __init__(self, work: Work) -> None:
        self.waiting = deque(sorted(work.jobs, key=lambda job: -job.images))  # long ones first: none comes last alone
        self.work, self.store, self.setting, self.progress = work, work.store, work.setting, work.progress
        self.elsewhere: list[Job] = []
        self.tries: dict[str, int] = {}
        self.outcome = RunOutcome()

    @abstractmethod
    def run(self) -> None:
        """Until every job is finished or has failed."""

    @abstractmethod
    def close(self) -> None:
        """Ends what is under way and gives its locks up."""

    def run_and_close(self) -> RunOutcome:
        """Whatever stops it, what is finished is stored and what is under way is run the next time."""
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
            elif self.store.has(job.id):  # another runner finished it since we looked
                lock.release()
                self._finished(job)
            else:
                return job, lock
        return None

    def take_back_from_other_runners(self) -> None:
        """A cell whose lock is free again was finished by its runner, or is ours to run."""
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
        """The worker that had the job: another try, or none."""
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
    """SIGTERM stops a run as Ctrl-C does."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
