"""The Ray cluster that cells run on: checks that it answers, counts its room, or starts one on this machine."""

import importlib.util
import logging
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import ceil
from pathlib import Path
from typing import Any

from benchmark import IN_CLONE
from benchmark.cell import Resources
from benchmark.cores import usable_cores
from benchmark.engine.base import GivenUpError
from benchmark.engine.worker import MEMORY, ONE_THREAD
from benchmark.errors import InputError

INSTALL = "pip install -c constraints.txt -e '.[ray]'"
SECONDS_TO_CONNECT = 5.0
SECONDS_TO_ANSWER = 10.0
SECONDS_TO_NAME_ITSELF = 8  # for the head
SECONDS_TO_ASK = 12.0  # from a separate process, which has to start first
HTTP2_SETTINGS = b"\x04"
HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + HTTP2_SETTINGS + b"\0" * 5
TRIES_TO_START = 3  # Ray gives its processes 30 seconds, which is too short on a busy machine
TOKEN = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
NOT_THE_HEAD = 3
ASK_FOR_ITS_NAME = f"""
import sys
from ray._raylet import GcsClient
from ray.exceptions import RayError
try:
    GcsClient(address=sys.argv[1])
except RayError as problem:
    print(problem, file=sys.stderr)
    sys.exit({NOT_THE_HEAD})
"""
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # switches off Ray's usage reports


def check(address: str | None, device: str) -> None:
    """Checks that Ray is installed and that the cluster answers; errors say what to do. Takes at most half a minute."""
    try:
        import ray  # noqa: F401
    except ImportError as problem:
        raise InputError(f"--engine ray needs Ray, which cannot be imported ({problem}): {INSTALL}") from problem
    if device not in ("cpu", "cuda"):
        raise InputError(f"--device {device}: with --engine ray expected cpu or cuda; Ray chooses which GPU")
    if address is not None:
        _check_that_it_answers(address)


def _check_that_it_answers(address: str) -> None:
    """Checks quickly that a cluster answers; Ray itself would try for minutes. `auto` searches this machine."""
    from ray.exceptions import RayError

    chosen = os.environ.get("RAY_ADDRESS") or "auto" if address == "auto" else address
    try:
        if chosen == "auto":
            _check_that_one_runs_here()
        else:
            _check_that_something_answers(*_parts(chosen))
            _check_that_it_is_the_head(chosen)
    except OSError as problem:
        raise _unreachable(chosen, problem.strerror or str(problem)) from problem
    except RayError as problem:
        raise _unreachable(chosen, str(problem)) from problem


def _check_that_one_runs_here() -> None:
    import ray

    if ray.is_initialized():
        return
    with _terminate_unchanged():
        ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
        ray.shutdown()


def _check_that_something_answers(host: str, port: int) -> None:
    """Checks for an HTTP/2 server, as Ray's are: it sends a frame with settings at once."""
    with socket.create_connection((host, port), timeout=SECONDS_TO_CONNECT) as connection:
        connection.settimeout(SECONDS_TO_ANSWER)
        connection.sendall(HTTP2_GREETING)
        try:
            said = connection.recv(9)
        except TimeoutError as problem:
            raise TimeoutError(f"no answer within {SECONDS_TO_ANSWER:.0f} s") from problem
    if said[3:4] != HTTP2_SETTINGS:
        raise ConnectionError("what answers there is not Ray")


def _check_that_it_is_the_head(address: str) -> None:
    """Asks whether the server is the head of a cluster, since others use HTTP/2 too. Ray's client may exit on an
    unexpected answer, so it runs in its own process."""
    environment = {**os.environ, "RAY_py_gcs_connect_timeout_s": str(SECONDS_TO_NAME_ITSELF)}
    try:
        asked = subprocess.run(
            [sys.executable, "-P", "-c", ASK_FOR_ITS_NAME, address],
            capture_output=True, text=True, errors="replace", timeout=SECONDS_TO_ASK, env=environment,
        )  # fmt: skip
    except subprocess.TimeoutExpired as problem:
        raise TimeoutError(f"no answer within {SECONDS_TO_ASK:.0f} s") from problem
    if "authentication token" in asked.stderr.lower():
        raise ConnectionError("it requires a token, and the given token is missing or wrong")
    if asked.returncode == NOT_THE_HEAD:
        raise ConnectionError("what answers there is not the head of a Ray cluster")


def _parts(address: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[2]) < 2**16:
        raise InputError(f"--ray-address {address}: expected auto or HOST:PORT, such as 10.0.0.1:6379")
    return found[1].strip("[]"), int(found[2])


def _unreachable(address: str, why: str) -> ConnectionError:
    return ConnectionError(
        f"no Ray cluster can be reached at {address} ({why}): start the run on a node of the cluster, where "
        "`ray status` shows it, or leave --ray-address out to have one started on this machine; a cluster that was "
        "started with a token needs RAY_AUTH_MODE=token and the same token here (docs/tutorials/cluster.md)"
    )


@contextmanager
def cluster(address: str | None, workers: int, resources: Resources) -> Iterator[None]:
    """Connects to the cluster, or starts one that ends with the run. Sends this project's code to the nodes."""
    import ray

    if ray.is_initialized():
        raise GivenUpError("Ray is connected already in this process: call ray.shutdown() first")
    with _token_of_its_own() if address is None else nullcontext():
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
def _token_of_its_own() -> Iterator[None]:
    """Sets a token, so that nobody else can send code to our own cluster. Ray would store one in the home folder, and
    every later `ray start` would require it."""
    before = {name: os.environ.get(name) for name in TOKEN}
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    _read_the_token_again()
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
        _read_the_token_again()


def _read_the_token_again() -> None:
    """Makes Ray forget the token and the mode that it has cached."""
    try:
        from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]
    except ImportError:  # a Ray without tokens
        return
    AuthenticationTokenLoader.instance().reset_cache()
    Config.initialize("")


@contextmanager
def _terminate_unchanged() -> Iterator[None]:
    """Restores the signal handler that Ray replaces."""
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
    from ray.exceptions import RayError

    try:
        _init(address=address)
    except (OSError, RuntimeError, ValueError, RayError) as problem:
        raise GivenUpError(str(_unreachable(address, str(problem)))) from problem


def _init(**options: Any) -> None:
    import ray

    environment = {
        "py_modules": [str(_source(name)) for name in (*IN_CLONE, "marginbench")],
        "excludes": ["**/__pycache__/**"],
        "env_vars": ONE_THREAD | MEMORY,
    }
    ray.init(log_to_driver=False, logging_level=logging.ERROR, runtime_env=environment, **options)


def _source(name: str) -> Path:
    """The folder of a package, or the file of a module."""
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent if found.submodule_search_locations else Path(found.origin)


def room(resources: Resources, device: str) -> int:
    """How many cells with these needs fit on the present nodes."""
    import ray

    return sum(_fitting(node["Resources"], resources, device) for node in ray.nodes() if node["Alive"])


def _fitting(has: dict[str, float], resources: Resources, device: str) -> int:
    counts = [has.get("CPU", 0.0) / resources.cpus]
    if device == "cuda":
        counts.append(has.get("GPU", 0.0) / resources.gpus)
    return int(min(counts) + 1e-6)


def head_answers() -> bool:
    """Disconnects without a long wait: Ray waits for a minute and then ends this process."""
    import ray

    try:
        socket.create_connection(_parts(ray.get_runtime_context().gcs_address), timeout=SECONDS_TO_CONNECT).close()
    except OSError:
        return False
    return True
