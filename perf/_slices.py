"""Two contenders on the same cores in slices of a few seconds: while one goes, the other is stopped.

The pace of a shared machine changes by a tenth from one minute to the next, and none of its counters shows it. What
lasts minutes is therefore not measured one after the other: in slices both get the same moments. Linux only.
"""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from perf._process import ROOT, call_of

PR_SET_PDEATHSIG = 1  # of prctl
STAMP = "stamp"
Interval = tuple[float, float]
Stamps = dict[str, list[tuple[float, float]]]  # by who stamped: when, and how much had been done by then


def stamp(done: float) -> None:
    """Said by a contender's process: so much of its work is done. What comes before the first one does not count."""
    line = f"{STAMP} {os.getpid()} {time.perf_counter()} {done}\n"
    os.write(sys.stdout.fileno(), line.encode())  # in one piece: another process may be writing to the same file


def end_with_parent() -> None:
    """However the process that started this one ends, this one is killed then: it may be stopped, and would stay so."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


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
        """In a folder of its own."""
        command, environment = call_of(self.function, self.arguments, self.threads)
        self.said, self.complaints = folder / "said", folder / "complaints"
        with self.said.open("a") as said, self.complaints.open("w") as complaints:
            self.process = subprocess.Popen(
                command, env=environment, cwd=ROOT, stdout=said, stderr=complaints,
                start_new_session=True, preexec_fn=end_with_parent,
            )  # fmt: skip

    def goes(self) -> bool:
        """Whether it is still running; raises an error if it failed."""
        code = self.process.poll()
        if code:
            last = self.complaints.read_text().strip().splitlines()[-1:] or ["no error message"]
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
                raise RuntimeError(f"{self.function.__name__}{self.arguments} ended without doing any work")

    def pace(self) -> float:
        """Of all its processes together, over all slices so far; 0 while one of them has stamped only once."""
        self.stamps = defaultdict(list)
        for line in self.said.read_text().splitlines():
            if line.startswith(f"{STAMP} "):
                _, who, when, done = line.split()
                self.stamps[who].append((float(when), float(done)))
        paces = [pace(stamps, self.slices) for stamps in self.stamps.values()]
        return sum(paces) if all(paces) else 0.0

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
    with ExitStack() as stack:
        stack.enter_context(_ended_as_by_ctrl_c())
        for contender in (other, one):
            contender.start(Path(stack.enter_context(tempfile.TemporaryDirectory())))
            stack.callback(contender.end)
            contender.go_until_its_first_stamp()
        while one.goes():
            one.go_for_a_slice()
            other.go_for_a_slice()
        while not other.pace() and other.goes():
            other.go_for_a_slice()
        return one.pace(), other.pace()


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Ends the contenders on SIGTERM and SIGHUP too."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
