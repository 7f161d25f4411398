"""The Ray cluster that cells run on: whether it answers, how much room it has; one of our own where none is named."""

import importlib.util
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import Any

from benchmark.cell import Resources
from benchmark.cores import usable_cores
from benchmark.engine.cells import GivenUpError
from benchmark.engine.worker import MEMORY, ONE_THREAD

INSTALL = "pip install -c constraints.txt -e '.[ray]'"
SECONDS_TO_CONNECT = 5.0
SECONDS_TO_ANSWER = 20.0
TRIES_TO_START = 3  # Ray gives its processes 30 seconds, too few on a machine that is busy enough
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_JOIN_AND_LEAVE = """
import logging, sys, ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level=logging.ERROR)
"""


def check(address: str | None, device: str) -> None:
    """Ray is installed and the cluster answers; errors say what to do. Takes at most half a minute."""
    if importlib.util.find_spec("ray") is None:
        raise ValueError(f"--engine ray needs Ray, which is not installed: {INSTALL}")
    if device not in ("cpu", "cuda"):
        raise ValueError(f"--device {device}: with --engine ray expected cpu or cuda; Ray chooses which GPU")
    if address is not None:
        _check_that_it_answers(address)


def _check_that_it_answers(address: str) -> None:
    """In a process that can be ended: Ray itself tries for minutes, and may take its process down with it."""
    if address != "auto":
        host, port = _parts(address)
        try:
            socket.create_connection((host, port), timeout=SECONDS_TO_CONNECT).close()
        except OSError as problem:
            raise _unreachable(address, problem.strerror or str(problem)) from problem
    command = [sys.executable, "-c", _JOIN_AND_LEAVE, address]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER, env=_environment())
    except subprocess.TimeoutExpired as problem:
        said = f"no answer within {SECONDS_TO_ANSWER:.0f} s; is it Ray's port, and is this machine one of its nodes?"
        raise _unreachable(address, said) from problem
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise _unreachable(address, lines[-1] if lines else f"exit code {done.returncode}")


def _parts(address: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[2]) < 2**16:
        raise ValueError(f"--ray-address {address}: expected auto or HOST:PORT, such as 10.0.0.1:6379")
    return found[1].strip("[]"), int(found[2])


def _unreachable(address: str, why: str) -> ConnectionError:
    return ConnectionError(
        f"no Ray cluster can be reached at {address} ({why}): start the run on a node of the cluster, where "
        "`ray status` shows it, or leave --ray-address out to have one started on this machine"
    )


def _environment() -> dict[str, str]:
    """Ray tells nobody that it is used."""
    return {"RAY_USAGE_STATS_ENABLED": "0", **os.environ}


@contextmanager
def cluster(address: str | None, workers: int, resources: Resources) -> Iterator[None]:
    """Connected to it, or with one of our own, which ends with it. This project's code goes to its nodes."""
    os.environ.update(_environment())
    import ray

    if ray.is_initialized():
        raise ValueError("Ray is connected already in this process: call ray.shutdown() first")
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        if address is None:
            _start_our_own(ceil(workers * resources.cpus) or usable_cores())
        else:
            _join(address)
        signal.signal(signal.SIGTERM, terminate)  # Ray puts a handler of its own there
        yield
    finally:
        ray.shutdown()
        signal.signal(signal.SIGTERM, terminate)


def _start_our_own(cpus: int) -> None:
    import ray

    for left in reversed(range(TRIES_TO_START)):
        try:
            _init(address="local", num_cpus=cpus, include_dashboard=False)
        except Exception as problem:
            ray.shutdown()
            if not left:
                raise GivenUpError(f"no Ray cluster could be started on this machine: {problem}") from problem
        else:
            return


def _join(address: str) -> None:
    try:
        _init(address=address)
    except (OSError, RuntimeError, ValueError) as problem:
        raise GivenUpError(str(_unreachable(address, str(problem)))) from problem


def _init(**options: Any) -> None:
    import ray

    environment = {
        "py_modules": [str(_package(name)) for name in ("benchmark", "datasets", "losses")],
        "excludes": ["**/__pycache__/**"],
        "env_vars": ONE_THREAD | MEMORY,
    }
    ray.init(log_to_driver=False, logging_level=logging.ERROR, runtime_env=environment, **options)


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def room(resources: Resources, device: str) -> int:
    """How many cells that ask for this fit on the nodes that are there."""
    import ray

    return sum(_fitting(node["Resources"], resources, device) for node in ray.nodes() if node["Alive"])


def _fitting(has: dict[str, float], resources: Resources, device: str) -> int:
    counts = [has.get("CPU", 0.0) / resources.cpus]
    if device == "cuda":
        counts.append(has.get("GPU", 0.0) / resources.gpus)
    return int(min(counts) + 1e-6)
