"""The Ray cluster that cells run on: whether it answers, how much room it has; one of our own where none is named."""

import importlib.util
import logging
import os
import re
import signal
import socket
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
SECONDS_TO_CONNECT = 10.0
SECONDS_TO_ANSWER = 10.0
HTTP2_SETTINGS = b"\x04"
HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + HTTP2_SETTINGS + b"\0" * 5
TRIES_TO_START = 3  # Ray gives its processes 30 seconds, too few on a machine that is busy enough
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray tells nobody that it is used


def check(address: str | None, device: str) -> None:
    """Ray is installed and the cluster answers; errors say what to do. Takes at most half a minute."""
    try:
        import ray  # noqa: F401
    except ImportError as problem:
        raise ValueError(f"--engine ray needs Ray, which cannot be imported ({problem}): {INSTALL}") from problem
    if device not in ("cpu", "cuda"):
        raise ValueError(f"--device {device}: with --engine ray expected cpu or cuda; Ray chooses which GPU")
    if address is not None:
        _check_that_it_answers(address)


def _check_that_it_answers(address: str) -> None:
    """Ray itself would try for minutes. `auto` looks for a cluster among the processes of this machine, in a second."""
    chosen = os.environ.get("RAY_ADDRESS") or "auto" if address == "auto" else address
    try:
        if chosen == "auto":
            _check_that_one_runs_here()
        else:
            _check_that_ray_answers(*_parts(chosen))
    except OSError as problem:
        raise _unreachable(chosen, problem.strerror or str(problem)) from problem


def _check_that_one_runs_here() -> None:
    import ray

    if ray.is_initialized():
        return
    with _terminate_unchanged():
        ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
        ray.shutdown()


def _check_that_ray_answers(host: str, port: int) -> None:
    """Ray's server speaks HTTP/2 and says so at once: its first frame has the settings."""
    with socket.create_connection((host, port), timeout=SECONDS_TO_CONNECT) as connection:
        connection.settimeout(SECONDS_TO_ANSWER)
        connection.sendall(HTTP2_GREETING)
        try:
            said = connection.recv(9)
        except TimeoutError as problem:
            raise TimeoutError(f"no answer within {SECONDS_TO_ANSWER:.0f} s") from problem
    if said[3:4] != HTTP2_SETTINGS:
        raise ConnectionError("what answers there is not Ray")


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


@contextmanager
def cluster(address: str | None, workers: int, resources: Resources) -> Iterator[None]:
    """Connected to it, or with one of our own, which ends with it. This project's code goes to its nodes."""
    import ray

    if ray.is_initialized():
        raise GivenUpError("Ray is connected already in this process: call ray.shutdown() first")
    try:
        with _terminate_unchanged():
            if address is None:
                _start_our_own(ceil(workers * resources.cpus) or usable_cores())
            else:
                _join(address)
        yield
    finally:
        ray.shutdown()


@contextmanager
def _terminate_unchanged() -> Iterator[None]:
    """Ray puts a handler of its own there."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
