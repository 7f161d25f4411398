"""Ray nodes that really run on this machine, and the processes on them that train cells."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.benchmark.engine.runner import children, kill

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
TRIES = 8
SMALL = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}
Made = TypeVar("Made")


@contextmanager
def a_token() -> Iterator[None]:
    """Whatever is started meanwhile asks for it, and has it."""
    from benchmark.engine.ray_cluster import _read_the_token_again

    os.environ.update(TOKEN)
    _read_the_token_again()
    try:
        yield
    finally:
        for name in TOKEN:
            del os.environ[name]
        _read_the_token_again()


@contextmanager
def two_nodes() -> Iterator[Any]:
    """A head and another node with one core each, so that each trains one cell at a time."""
    from ray.cluster_utils import Cluster

    head = {**SMALL, "include_dashboard": False, "no_monitor": True}
    cluster = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    try:
        patiently(lambda: cluster.add_node(**SMALL))
        yield cluster
    finally:
        cluster.shutdown()


def patiently(make: Callable[[], Made]) -> Made:
    """Ray gives a node 15 seconds to start, too few on a machine that is busy enough."""
    before = children(os.getpid())
    for left in reversed(range(TRIES)):
        try:
            return make()
        except Exception:
            if not left:
                raise
            for leftover in set(children(os.getpid())) - set(before):
                kill(leftover)
    raise AssertionError("unreachable")


def training_on(node: Any) -> list[int]:
    """The worker processes of a node that have a cell at this moment."""
    (raylet,) = node.all_processes["raylet"]
    return [worker for worker in children(raylet.process.pid) if "ray::marginbench" in _title(worker)]


def wait_for(what: Callable[[], Made], seconds: float = 600.0) -> Made:
    """The first result that is not empty."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise TimeoutError(f"waited {seconds:.0f} s in vain")


def _title(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
