"""The machine of a measurement, and how much of it other processes used meanwhile."""

import ctypes
import os
import platform
import resource
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmark.cores import usable_cores
from benchmark.version import commit

PR_SET_CHILD_SUBREAPER = 36  # of prctl
SECONDS_TO_END = 2.0


def machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": usable_cores(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "commit": commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


class Neighbours:
    """How much other processes used the cores since this was created. Only Linux counts it."""

    def __init__(self) -> None:
        _adopt_orphans()
        self.begun, self.busy, self.own = time.perf_counter(), _busy_seconds(), _own_seconds()

    def share(self) -> float | None:
        """From 0 (idle machine) to 1 (all cores busy)."""
        _bury_orphans()
        busy = _busy_seconds()
        if busy is None or self.busy is None:
            return None
        room = (time.perf_counter() - self.begun) * (os.cpu_count() or 1)
        others = busy - self.busy - (_own_seconds() - self.own)
        return min(max(others / room, 0.0), 1.0) if room > 0 else None


def _busy_seconds() -> float | None:
    """Processor time of all processes, and the time that a host withheld."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _, _, interrupts, soft, steal = (int(field) for field in fields[:8])
    return (user + nice + system + interrupts + soft + steal) / os.sysconf("SC_CLK_TCK")


def _adopt_orphans() -> None:
    """Lets this process wait for those whose parents have ended, as workers' do: only then is their time known.
    Linux alone has it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _bury_orphans() -> None:
    """Waits for them if they end soon."""
    until = time.perf_counter() + SECONDS_TO_END
    with suppress(ChildProcessError):
        while time.perf_counter() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)


def _own_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
