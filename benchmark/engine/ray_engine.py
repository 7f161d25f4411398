"""The Ray engine: runs cells on the nodes of a cluster; this process alone stores the results."""

import os
import socket
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import ray
import torch
from ray import exceptions
from tqdm import tqdm

from benchmark.cell import Resources
from benchmark.engine.base import SECONDS_BETWEEN_LOOKS, Engine, GivenUpError, RunOutcome, Work
from benchmark.engine.plan import Job, load_data
from benchmark.engine.ray_cluster import cluster, head_answers, room
from benchmark.engine.ray_data import as_arrays, can_travel
from benchmark.engine.ray_node import Order, PluginFiles, public_version, run_cell
from benchmark.engine.worker import Setting, reason
from benchmark.plugins import files_of
from benchmark.store import CellLock, Store
from benchmark.version import commit

NODES_LOST = 10  # while they ran one cell, which may then be the reason
TRIES_TO_FETCH = 3  # the dataset of one cell
SECONDS_BETWEEN_COUNTS = 5.0  # between counts of the nodes, which may come and go
SECONDS_WITHOUT_A_HEAD = 30.0  # after 60 Ray would end this process
SAME_EVERYWHERE = (
    "every node has to reach the machine that the run is started on, and RAY_AUTH_MODE and the token have to be the "
    "same for every `ray start` and for the run (docs/tutorials/cluster.md)"
)


def run_ray(work: Work, address: str | None) -> RunOutcome:
    """Runs the jobs as `run_local` does, on the cluster at `address`, auto or HOST:PORT.

    Without an address a cluster is started on this machine, and stopped at the end.
    """
    return _OnRay(work, address).run_and_close()


class _OnRay(Engine):
    def __init__(self, work: Work, address: str | None) -> None:
        super().__init__(work)
        self.workers, self.address = work.workers, address
        self.order = _order(work.store, work.setting)
        self.commit = commit()
        self.underway: dict[Any, tuple[Job, CellLock]] = {}
        self.data: dict[str, list[Any]] = {}
        self.lost: dict[str, int] = {}
        self.unfetched: dict[str, int] = {}
        self.counted, self.room = float("-inf"), 0
        self.head_seen = float("inf")

    def run(self) -> None:
        if not self.waiting:
            return
        with cluster(self.address, self.workers, self.waiting[0].cell.resources):
            self.task = ray.remote(max_retries=0)(run_cell)
            self._check_that_a_cell_fits(self.waiting[0].cell.resources)
            try:
                while self.waiting or self.elsewhere or self.underway:
                    self._look_at_the_cluster()
                    if not self.waiting:
                        self.take_back_from_other_runners()
                    while self.waiting and len(self.underway) < self._most():
                        self._send()
                    self._hear()
            finally:
                self.close()

    def _check_that_a_cell_fits(self, resources: Resources) -> None:
        """With a given number of workers, a suitable node may still join a cluster, but not our own."""
        if room(resources, self.setting.device):
            return
        wanted = f"{resources.cpus:g} CPU{'' if resources.cpus == 1 else 's'}"
        if self.setting.device == "cuda":
            wanted += f" and {resources.gpus:g} of a GPU"
        missing = f"no node of the Ray cluster has the {wanted} that a cell asks for"
        if not self.workers or self.address is None:
            raise GivenUpError(missing)
        tqdm.write(f"note: {missing}: the cells wait for one that has", file=self.progress.stream)

    def _most(self) -> int:
        """Cells at a time: the requested number, or as many as fit on the present nodes."""
        return self.workers or max(1, self.room)

    def _look_at_the_cluster(self) -> None:
        """Checks now and then that the head answers, and how many cells fit."""
        now = time.monotonic()
        if now - self.counted < SECONDS_BETWEEN_COUNTS:
            return
        self.counted = now
        if head_answers():
            self.head_seen = now
            if self.waiting:
                self.room = room(self.waiting[0].cell.resources, self.setting.device)
        elif now - self.head_seen > SECONDS_WITHOUT_A_HEAD:
            raise GivenUpError(f"the head of the Ray cluster has not answered for {SECONDS_WITHOUT_A_HEAD:.0f} s")

    def _send(self) -> None:
        found = self.next_job()
        if found is None:
            return
        job, lock = found
        resources = job.cell.resources
        gpus = resources.gpus if self.setting.device == "cuda" else 0
        task = self.task.options(num_cpus=resources.cpus, num_gpus=gpus, name=f"marginbench: {job.name}")
        try:
            data = self._data_of(job)
            self.underway[task.remote(job, self.order, data)] = found
        except (ValueError, OSError) as problem:
            self.answered(job, lock, "error", reason(problem))
            return
        except BaseException:
            lock.release()
            raise
        self.progress.running({job.name: self.store.status(job.id) for job, _ in self.underway.values()})

    def _data_of(self, job: Job) -> list[Any]:
        """A reference to the dataset, which is stored in the cluster's memory once."""
        if job.dataset_digest not in self.data:
            data = load_data(job.cell.dataset, job.cell.access, self.setting.root, self.setting.test)
            try:
                self.data[job.dataset_digest] = [ray.put(as_arrays(data))] if can_travel(data) else []
            except exceptions.RayError as problem:
                raise GivenUpError(f"{job.cell.dataset_label} does not fit into Ray's memory: {problem}") from problem
        return self.data[job.dataset_digest]

    def _hear(self) -> None:
        """Waits briefly, and handles each cell that came back or was lost."""
        if not self.underway:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        else:
            ready, _ = ray.wait(list(self.underway), timeout=SECONDS_BETWEEN_LOOKS)
            for reference in ready:
                self._came_back(reference, *self.underway[reference])
                del self.underway[reference]
            self._free_data()
        self.progress.tick()

    def _free_data(self) -> None:
        """Drops references to datasets whose last cell came back, so that Ray frees their memory."""
        jobs = [*self.waiting, *self.elsewhere, *(job for job, _ in self.underway.values())]
        for digest in self.data.keys() - {job.dataset_digest for job in jobs}:
            del self.data[digest]

    def _came_back(self, reference: Any, job: Job, lock: CellLock) -> None:
        try:
            kind, content = ray.get(reference)
        except (exceptions.NodeDiedError, exceptions.ObjectLostError):
            self._node_was_lost(job, lock)
        except exceptions.OutOfMemoryError:
            self.died(job, lock, "because its node ran out of memory")
        except exceptions.WorkerCrashedError:
            self.died(job, lock, "unexpectedly on its node")
        except exceptions.RayError as problem:
            raise GivenUpError(f"Ray could not run a cell: {' '.join(str(problem).split())}") from problem
        else:
            if kind == "unable":
                raise GivenUpError(content)
            if kind == "unfetched":
                self._data_did_not_arrive(job, lock, content)
                return
            if kind == "done":
                content.cell["provenance"]["commit"] = self.commit  # a node has no git history
            self.answered(job, lock, kind, content)

    def _node_was_lost(self, job: Job, lock: CellLock) -> None:
        """Handles a lost node. It does not count as a try of the cell, unless it happens repeatedly."""
        self.lost[job.id] = self.lost.get(job.id, 0) + 1
        if self.lost[job.id] < NODES_LOST:
            self.waiting.appendleft(job)
        else:
            self.failed(job, f"{NODES_LOST} nodes were lost while they ran it")
        lock.release()

    def _data_did_not_arrive(self, job: Job, lock: CellLock, how: str) -> None:
        """Handles a dataset that did not reach a node. The cell is never recorded as failed for it."""
        self.unfetched[job.id] = self.unfetched.get(job.id, 0) + 1
        if self.unfetched[job.id] == TRIES_TO_FETCH:
            raise GivenUpError(f"{how}, {TRIES_TO_FETCH} times: {SAME_EVERYWHERE}")
        self.waiting.appendleft(job)
        lock.release()

    def close(self) -> None:
        for reference, (_, lock) in self.underway.items():
            if ray.is_initialized():
                ray.cancel(reference, force=True)
            lock.release()
        self.underway.clear()


def _order(store: Store, setting: Setting) -> Order:
    run = sha256(f"{socket.gethostname()}:{store.folder.resolve()}".encode()).hexdigest()[:16]
    root = setting.root or Path(os.environ.get("MARGINBENCH_DATA") or "data")
    there = replace(setting, root=root.expanduser().absolute(), plugins=())
    plugins = tuple(_packed(plugin) for plugin in setting.plugins)
    return Order(run, there, plugins, public_version(torch.__version__))


def _packed(plugin: Path) -> PluginFiles:
    return tuple((str(path.relative_to(plugin.parent)), path.read_bytes()) for path in files_of(plugin))
