"""Runs a function in a separate process, so that its peak memory and threads can be measured alone."""

import importlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def in_own_process(function: Callable[..., Any], *arguments: Any, threads: int = 1) -> Any:
    """What a module's function returns; arguments and answer go as JSON."""
    call, environment = call_of(function, arguments, threads)
    done = subprocess.run(call, env=environment, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or ["no error message"]
        raise RuntimeError(f"{function.__name__}{arguments} ended with code {done.returncode}: {reason[0]}")
    return json.loads(done.stdout.splitlines()[-1])


def call_of(function: Callable[..., Any], arguments: Sequence[Any], threads: int) -> tuple[list[str], dict[str, str]]:
    """The command that calls a module's function, and its environment."""
    count = str(threads)
    environment = {**os.environ, "OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count, "MKL_NUM_THREADS": count}
    module = function.__module__
    if module == "__main__":  # a file of perf/ is run alone
        module = f"perf.{Path(sys.modules[module].__file__ or '').stem}"
    call = [sys.executable, "-m", "perf._process", module, function.__name__, json.dumps(arguments)]
    return call, environment


def peak_bytes() -> int:
    """The most that this process has held so far. Where the system says so of the process alone, as Linux does: its
    `ru_maxrss` is never below what the process that started this one held."""
    if Path("/proc/self/status").is_file():
        return peak_bytes_since()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def held_bytes() -> int:
    """What this process holds now; Linux only."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def forget_peak() -> None:
    """Resets the peak of `peak_bytes_since`; Linux only."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_bytes_since() -> int:
    """The most that this process has held since `forget_peak`, or since it began; Linux only."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith("VmHWM"))
    return int(found.split()[1]) * 1024


def main() -> None:
    module, function, arguments = sys.argv[1:]
    print(json.dumps(getattr(importlib.import_module(module), function)(*json.loads(arguments))))


if __name__ == "__main__":
    main()
