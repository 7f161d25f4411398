"""Two contenders on the same cores in slices of a few seconds: while one goes, the other is stopped.

The pace of a shared machine changes by a tenth from one minute to the next, and none of its counters shows it. What
lasts minutes is therefore not measured one after the other: in slices both get the same moments. Linux only.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perf._process import ROOT, call_of

STAMP = "stamp"
Interval = tuple[float, float]
Stamps = dict[str, list[tuple[float, float]]]  # by who stamped: when, and how much had been done by then


def stamp(done: float) -> None:
    """Said by a contender's process: so much of its work is done. What comes before the first one does not count."""
    print(STAMP, os.getpid(), time.perf_counter(), done, flush=True)


@dataclass
class Contender:
    """A module's function in processes of its own, which are stopped and let go together."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float  # of a slice
    threads: int = 1
    slices: list[Interval] = field(default_factory=list)
    stamps: Stamps = field(default_factory=dict)

    def start(self, folder: Path) -> None:
        command, environment = call_of(self.function, self.arguments, self.threads)
        self.said = folder / f"said-{self.function.__name__}"
        self.complaints = folder / f"complaints-{self.function.__name__}"
        with self.said.open("w") as said, self.complaints.open("w") as complaints:
            self.process = subprocess.Popen(
                command, env=environment, cwd=ROOT, stdout=said, stderr=complaints, start_new_session=True
            )

    def goes(self) -> bool:
        """Whether it is not done yet; an error if it failed."""
        code = self.process.poll()
        if code:
            last = self.complaints.read_text().strip().splitlines()[-1:] or ["no word of why"]
            raise RuntimeError(f"{self.function.__name__}{self.arguments} ended with code {code}: {last[0]}")
        return code is None

    def go_for_a_slice(self) -> None:
        begin = time.perf_counter()
        self._signal(signal.SIGCONT)
        while self.goes() and time.perf_counter() < begin + self.seconds:
            time.sleep(0.01)
        self._signal(signal.SIGSTOP)
        self.slices.append((begin, time.perf_counter()))

    def go_until_its_first_stamp(self) -> None:
        while not self.stamps:
            self.go_for_a_slice()
            self.pace()
            if not self.stamps and not self.goes():
                raise RuntimeError(f"{self.function.__name__}{self.arguments} ended and had done nothing")

    def pace(self) -> float:
        """Over all its slices so far."""
        self.stamps = defaultdict(list)
        for line in self.said.read_text().splitlines():
            if line.startswith(f"{STAMP} "):
                _, who, when, done = line.split()
                self.stamps[who].append((float(when), float(done)))
        return sum(pace(stamps, self.slices) for stamps in self.stamps.values())

    def end(self) -> None:
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return


def pace(stamps: Sequence[tuple[float, float]], slices: Sequence[Interval]) -> float:
    """How much was done in a second of the slices, between the first stamp and the last."""
    (begin, before), (end, after) = stamps[0], stamps[-1]
    seconds = sum(max(min(end, until) - max(begin, since), 0.0) for since, until in slices)
    return (after - before) / seconds if seconds > 0 else 0.0


def paces_in_slices(one: Contender, other: Contender) -> tuple[float, float]:
    """What both do in a second, in turns until `one` is done; `other` goes on as long as it takes."""
    with tempfile.TemporaryDirectory() as folder:
        begun = []
        try:
            for contender in (other, one):
                begun.append(contender)
                contender.start(Path(folder))
                contender.go_until_its_first_stamp()
            while one.goes():
                one.go_for_a_slice()
                other.go_for_a_slice()
            while not other.pace():
                other.go_for_a_slice()
            return one.pace(), other.pace()
        finally:
            for contender in begun:
                contender.end()
