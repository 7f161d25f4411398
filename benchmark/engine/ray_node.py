"""Runs a cell on a Ray node. Results go back to the runner as bytes; nothing is stored on the node.

Checkpoints and plug-in files are in a separate folder in the node's temporary folder.
"""

import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmark.engine.plan import Job
from benchmark.engine.worker import KEPT_DATASETS, Setting, reason
from benchmark.errors import InputError

DAYS_CHECKPOINTS_ARE_KEPT = 30


PluginFiles = tuple[tuple[str, bytes], ...]
"""Path relative to the plug-in's folder, and content, of the plug-in's file and then of its helpers."""


@dataclass(frozen=True)
class Order:
    """What all cells of a run share, as a node needs it."""

    run: str  # its name; a node resumes from checkpoints of the same run
    setting: Setting
    plugins: tuple[PluginFiles, ...]
    torch: str  # its version where the run was started


_prepared = False
_loaded: dict[str, Any] = {}


def run_cell(job: Job, order: Order, data: list[Any]) -> tuple[str, Any]:
    """("done", Packed), ("error", reason), ("unable", reason) if this node cannot run any cell, or
    ("unfetched", reason) if the dataset did not arrive, which is not the cell's fault.

    `data` holds the reference to the dataset, or nothing if the node reads it from its own disk.
    """
    try:
        _prepare(order)
    except Exception as problem:
        return "unable", f"the node {socket.gethostname()} cannot run cells: {reason(problem)}"
    from benchmark.engine.job import run_job

    try:
        loaded = _data_of(job, order.setting, data)
        with checkpoint_of(job, order.run) as checkpoint:
            return "done", run_job(
                job, loaded, order.setting.device, checkpoint, order.setting.keep_models, order.setting.loaders
            )
    except NotFetchedError as problem:
        return "unfetched", f"{job.cell.dataset_label} did not reach the node {socket.gethostname()} ({problem})"
    except Exception as problem:
        return "error", reason(problem)


class NotFetchedError(Exception):
    """Ray could not bring something to this node."""


def _prepare(order: Order) -> None:
    """Prepares a worker once; it serves one run."""
    global _prepared
    if _prepared:
        return
    import torch

    from benchmark.plugins import load_plugin
    from benchmark.training import check_device
    from benchmark.warning_lines import show_as_lines

    show_as_lines(order.setting.warned)
    torch.set_num_threads(1)
    here = public_version(torch.__version__)
    if here != order.torch:
        raise InputError(f"it has torch {here}, the run was started with {order.torch}: install the same everywhere")
    check_device(order.setting.device)
    for plugin in order.plugins:
        load_plugin(_on_disk(plugin))
    _forget_old_checkpoints()
    _prepared = True


def public_version(version: str) -> str:
    """The version without the build, which may differ between a head without GPU and nodes with GPUs."""
    return version.partition("+")[0]


def _data_of(job: Job, setting: Setting, data: list[Any]) -> Any:
    from benchmark.engine.plan import load_data

    if job.dataset_digest not in _loaded:
        while len(_loaded) >= KEPT_DATASETS:
            _loaded.pop(next(iter(_loaded)))
        cell = job.cell
        _loaded[job.dataset_digest] = (
            _fetched(data[0]) if data else load_data(cell.dataset, cell.access, setting.root, setting.test)
        )
    return _loaded[job.dataset_digest]


def _fetched(reference: Any) -> Any:
    import ray
    from ray.exceptions import RayError

    from benchmark.engine.ray_data import as_tensors

    try:
        arrays = ray.get(reference)
    except RayError as problem:
        raise NotFetchedError(type(problem).__name__) from problem
    return as_tensors(arrays)


def node_folder() -> Path:
    """A folder that only this user may write to, because its files are loaded as code."""
    folder = Path(tempfile.gettempdir(), f"marginbench-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o022:
        raise PermissionError(f"{folder} should be a folder that only its owner, you, may write to")
    return folder


def _on_disk(plugin: PluginFiles) -> Path:
    """Writes the plug-in and its helpers to one place for all workers of the node; returns the plug-in's file."""
    from datasets._files import write_atomically

    folder = node_folder() / "plugins" / sha256(repr(plugin).encode()).hexdigest()
    for name, content in plugin:
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            write_atomically(path, content)
    return folder / plugin[0][0]


@contextmanager
def checkpoint_of(job: Job, run: str) -> Iterator[Path]:
    """The path of the cell's checkpoint. Only a killed worker leaves the file behind."""
    from benchmark.store import lock

    folder = node_folder() / "checkpoints"
    held = lock(folder / f"{run}-{job.id}.lock")
    if held is None:  # a worker of a killed runner has not noticed yet
        with tempfile.TemporaryDirectory(dir=node_folder()) as own:
            yield Path(own, "checkpoint.safetensors")
        return
    path = folder / f"{run}-{job.id}.safetensors"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        held.release()


def _forget_old_checkpoints() -> None:
    """Removes old checkpoints, of cells that were finished on another node or never."""
    eldest = time.time() - DAYS_CHECKPOINTS_ARE_KEPT * 86_400
    for path in (node_folder() / "checkpoints").glob("*.safetensors*"):
        try:
            if path.stat().st_mtime < eldest:
                path.unlink()
        except FileNotFoundError:  # another worker was quicker
            continue
