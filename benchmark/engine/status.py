"""What a cell is doing while it runs: a small file that the runner and people read, and a history that grows.

running/<cell id>.json   epoch, step, loss, images per second, seconds left
running/<cell id>.csv    the history of the finished epochs
"""

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmark.text import duration

SECONDS_BETWEEN_WRITES = 2.0
LARGEST = 10_000  # bytes


@dataclass(frozen=True)
class Status:
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    images_per_second: float
    seconds_left: float  # of training, by the pace so far

    def in_words(self) -> str:
        """`epoch 3/20, step 1,200/8,000, loss 2.41, 5,310 images/s, 4.2 min left`."""
        where = f"epoch {self.epoch}/{self.epochs}, step {self.step:,}/{self.steps:,}, loss {self.loss:.4g}"
        return f"{where}, {self.images_per_second:,.0f} images/s, {duration(self.seconds_left)} left"


class StatusFile:
    """Writes a run's status now and then, and its history after each epoch. A file that cannot be written is not
    missed: training goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.begun = self.written = time.monotonic()
        self.first_step: int | None = None
        self.epochs_written = 0

    def __call__(self, run: Any) -> None:
        """`run` is a benchmark.training.Moment."""
        now = time.monotonic()
        if self.first_step is None:
            self.first_step, self.begun = run.step - 1, now
        if now - self.written >= SECONDS_BETWEEN_WRITES and run.step - 1 > self.first_step:
            self.written = now
            steps_per_second = (run.step - 1 - self.first_step) / max(now - self.begun, 1e-9)
            left = (run.steps - run.step) / steps_per_second
            pace = steps_per_second * run.images_per_step
            status = Status(run.epoch, run.epochs, run.step, run.steps, run.loss, pace, left)
            self._write(self.path, json.dumps(asdict(status)).encode())
        if len(run.history) > self.epochs_written:
            from benchmark.training.history import as_csv  # torch: the runner does without it

            self.epochs_written = len(run.history)
            self._write(self.path.with_suffix(".csv"), as_csv(run.history))

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        """Readers see the old content or the new one. It need not survive a power cut."""
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            aside = path.with_name(f".{path.name}")
            aside.write_bytes(content)
            aside.replace(path)


def read_status(path: Path) -> Status | None:
    """The status of a running cell; None where there is none yet."""
    try:
        if path.stat().st_size > LARGEST:
            return None
        return Status(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
