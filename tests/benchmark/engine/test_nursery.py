"""What a worker is forked from must be safe to fork and must not know the project's files as they once were."""

import io
import json
import os
import subprocess
import sys
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from benchmark import nursery
from benchmark.engine import Job, run_local
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.store import Store

ASKED = f"""
import importlib, json, os, sys
for name in {nursery.IMPORTED!r}:
    importlib.import_module(name)
own = [name for name in sys.modules if name.partition(".")[0] in ("benchmark", "losses", "datasets")]
print(json.dumps([own, len(os.listdir("/proc/self/task"))]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are not forked")
def test_nothing_of_the_project_is_imported_and_no_thread_is_started() -> None:
    environment = {**os.environ, **nursery.ONE_THREAD}
    done = subprocess.run([sys.executable, "-c", ASKED], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], 1]


def tell(answers: Connection) -> None:
    answers.send((dict(os.environ), os.getppid()))


def told(device: str) -> tuple[dict[str, str], int]:
    """A worker's environment and the process that it came from."""
    ours, theirs = Pipe()
    process = nursery.start_worker(device, tell, theirs)
    environment, parent = ours.recv()
    process.join()
    assert process.exitcode == 0
    return environment, parent


@pytest.mark.parametrize(("device", "forked"), [("cpu", sys.platform == "linux"), ("cuda", False)])
def test_a_worker_has_one_thread_and_this_process_keeps_its_environment(
    device: str, forked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(device)
    monkeypatch.setenv("SET_SINCE", "yes")
    before = dict(os.environ)
    environment, parent = told(device)
    assert dict(os.environ) == before
    assert environment == before | nursery.ONE_THREAD | nursery.MEMORY
    assert (parent != os.getpid()) == forked


def test_a_nursery_that_cannot_live_is_said_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def die(process: object) -> None:
        raise EOFError

    monkeypatch.setattr("multiprocessing.context.ForkServerProcess._Popen", staticmethod(die))
    job = cast(Job, SimpleNamespace(id="a" * 16, images=1, name="a cell"))
    outcome = run_local(
        [job], Store(tmp_path, "exp"), Setting(None, "cpu", (), False), 1, Progress([job], 1, io.StringIO())
    )
    assert outcome.stopped == (
        "5 workers in a row came to no cell: the process that workers are forked from has died"
    )
