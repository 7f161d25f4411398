"""A worker that dies in the middle of its answer is a dead worker, not a full disk."""

import io
import multiprocessing
import os
import struct
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmark.engine.base import Work
from benchmark.engine.local import _Pool, _Worker
from benchmark.engine.plan import Job
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.store import Store


def say_half(answers: Connection) -> None:
    os.write(answers.fileno(), struct.pack("!i", 1_000_000) + b"the beginning of a long result")


def test_the_cell_is_tried_again(tmp_path: Path) -> None:
    job = cast(Job, SimpleNamespace(id="a" * 16, images=1, name="a cell"))
    store = Store(tmp_path, "exp")
    pool = _Pool(Work([job], store, Setting(None, "cpu", (), False), 1, Progress([job], 1, io.StringIO())))
    context: Any = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    lives, _ = context.Pipe()
    process = context.Process(target=say_half, args=(theirs,))
    process.start()
    theirs.close()
    pool.waiting.clear()
    pool.workers.append(_Worker(process, ours, lives, job, store.lock(job.id), ready=True))
    while pool.workers:
        pool._hear()
    assert list(pool.waiting) == [job]
    assert pool.tries[job.id] == 1
    claim = store.lock(job.id)
    assert claim is not None
    claim.release()
