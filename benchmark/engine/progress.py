"""Shows the progress of a run: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from pathlib import Path
from typing import TextIO

from tqdm import tqdm

from benchmark.engine.plan import Job
from benchmark.engine.status import read_status
from benchmark.store import Failure
from benchmark.text import counted, duration

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts cells that are done, running and failed, and estimates the time left from the images processed so far."""

    def __init__(self, jobs: list[Job], workers: int, stream: TextIO = sys.stderr) -> None:
        self.total, self.work = len(jobs), sum(job.images for job in jobs)
        self.gone, self.count, self.failures = 0, 0, 0
        self.cells: dict[str, Path] = {}  # that are running, with their status files
        self.begun = self.said = time.monotonic()
        self.stream, self.workers = stream, workers
        self.bar = tqdm(total=self.total, unit="cell", file=stream, dynamic_ncols=True) if stream.isatty() else None

    def more(self, jobs: list[Job]) -> None:
        """Adds cells that were not known before."""
        self.total, self.work = self.total + len(jobs), self.work + sum(job.images for job in jobs)
        if self.bar is not None:
            self.bar.total = self.total

    def running(self, cells: dict[str, Path]) -> None:
        """Their names, and the files that say what they are doing."""
        self.cells = cells
        self._show()

    def finished(self, job: Job) -> None:
        self._advance(job.images)

    def failed(self, failure: Failure) -> None:
        self.failures += 1
        self._say(f"failed: {failure.name}: {failure.reason}")
        self._advance(0)

    def tick(self) -> None:
        """Prints something now and then; it may be called often."""
        if self.bar is not None:
            self._show()
            self.bar.refresh()
        elif time.monotonic() - self.said >= SECONDS_BETWEEN_LINES:
            self._line()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.total:
            self._line()

    def left(self) -> str:
        """The estimated time left, in words."""
        if not self.gone:
            return "?"
        return duration((self.work - self.gone) * (time.monotonic() - self.begun) / self.gone)

    def _advance(self, images: int) -> None:
        self.count += 1
        self.gone += images
        if self.bar is not None:
            self.bar.update()
        self._show()

    def _show(self) -> None:
        if self.bar is not None:
            found = [read_status(path) for path in self.cells.values()]
            doing = "".join(f" · epoch {one.epoch}/{one.epochs} loss {one.loss:.3g}" for one in found[:1] if one)
            text = f"{len(self.cells)} running, {self.failures} failed, about {self.left()} left{doing}"
            self.bar.set_postfix_str(text, refresh=False)
        else:
            self.tick()

    def _line(self) -> None:
        self.said = time.monotonic()
        text = f"{self.count}/{counted(self.total, 'cell')}, {self.failures} failed, about {self.left()} left"
        last = list(self.cells.items())[-1:] if self.count < self.total else []
        print(text + "".join(f" · {name}" for name, _ in last), file=self.stream)
        for name, path in self.cells.items():
            if self.count < self.total and (status := read_status(path)) is not None:
                print(f"  {name}: {status.in_words()}", file=self.stream)
        self.stream.flush()

    def _say(self, text: str) -> None:
        if self.bar is not None:
            self.bar.write(text, file=self.stream)
        else:
            print(text, file=self.stream, flush=True)
