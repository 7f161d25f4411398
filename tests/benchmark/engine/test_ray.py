"""The Ray engine on clusters that really run here: the same bytes as the local one, whatever is killed on the way."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.benchmark.engine.ray_nodes import TOKEN, a_token, training_on, two_nodes, wait_for
from tests.benchmark.engine.runner import PROJECT, Runner, kill, wait_until_gone
from tests.benchmark.tuning.made import Tuner

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc"),
    pytest.mark.xdist_group("ray"),  # one cluster for all of them
    pytest.mark.long,
]

CELLS = """\
description: Six small cells, two of them a plug-in's.
baseline: normface
seeds: 2
dim: 8
datasets: {digits: {}, wrappers: [{subset: {classes: 5}}]}
recipe: {lr: 0.1, epochs: 2, batch: 64}
losses: [softmax, {normface: {s: 8}}, mine]
resources: {cpus: 1, gpus: 0.25}
"""
PLUGIN = '''
import os, signal, time
from helping import SCALE
from losses import CosineHead, scale

class Mine(CosineHead):
    """A loss of its own file, with a helper beside it."""
    name = "mine"
    s: float = scale(SCALE)

    def training_loss(self, batch):
        {what}
'''
GATE = "MARGINBENCH_TEST_GATE"
GATED = PLUGIN.format(
    what=f'''while not os.path.exists(os.environ["{GATE}"]):
            time.sleep(0.05)
        return super().training_loss(batch)'''
)
COUNT, UNGATED = 6, 4


def runner_in(folder: Path, plugin: str = GATED, text: str = CELLS) -> Runner:
    runner = Runner(folder, text)
    (folder / "mine.py").write_text(plugin)
    (folder / "helping.py").write_text("SCALE = 8.0\n")
    return runner


def with_plugin(runner: Runner, *options: str) -> tuple[str, ...]:
    return ("--plugin", str(runner.folder / "mine.py"), *options)


def on(cluster: Any, runner: Runner) -> tuple[str, ...]:
    return with_plugin(runner, "--engine", "ray", "--ray-address", cluster.address)


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file without which the plug-in's cells do not go on: what happens then happens in the middle of them."""
    path = tmp_path_factory.mktemp("gate") / "open"
    os.environ[GATE] = str(path)
    yield path
    del os.environ[GATE]


@pytest.fixture(scope="module")
def cluster(gate: Path) -> Iterator[Any]:
    """Its nodes know where the gate is, and ask whoever connects for a token."""
    with a_token(), two_nodes() as made:
        yield made


@pytest.fixture(scope="module")
def local(gate: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The bytes of the local engine."""
    runner = runner_in(tmp_path_factory.mktemp("local"))
    gate.touch()
    code, output = runner.run(*with_plugin(runner))
    assert code == 0, output
    assert len(runner.runs()) == COUNT
    return runner.bytes()


def wait_until_both_train(runner: Runner, cluster: Any) -> None:
    """All that can be finished before the gate opens is finished, and each node has one of the other cells."""
    wait_for(lambda: len(runner.runs()) == UNGATED and all(training_on(node) for node in cluster.list_all_nodes()))


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_interrupted_and_run_again(
    local: dict[str, str], cluster: Any, gate: Path, tmp_path: Path, number: int
) -> None:
    """What is finished stays, nothing goes on without the runner, and the next run does the rest."""
    runner = runner_in(tmp_path)
    gate.unlink(missing_ok=True)
    process = runner.start(*on(cluster, runner))
    wait_until_both_train(runner, cluster)
    busy = [worker for node in cluster.list_all_nodes() for worker in training_on(node)]
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 130, output
    assert "interrupted; finished cells are kept" in output
    assert "Traceback" not in output
    assert wait_until_gone(busy, seconds=60.0) == []
    assert len(runner.runs()) == UNGATED
    gate.touch()
    code, output = runner.run(*on(cluster, runner))
    assert code == 0, output
    assert f"{COUNT} cells, {UNGATED} with a result, {COUNT - UNGATED} to run" in output
    assert runner.bytes() == local


def test_a_cell_that_kills_its_worker_fails_alone(cluster: Any, tmp_path: Path) -> None:
    runner = runner_in(tmp_path, PLUGIN.format(what="os.kill(os.getpid(), signal.SIGKILL)"))
    code, output = runner.run(*on(cluster, runner), "--seeds", "0")
    assert code == 1
    assert "mine · seed 0: its worker died unexpectedly on its node, 2 times" in output
    assert len(runner.runs()) == 2
    code, output = runner.run(*on(cluster, runner), "--seeds", "0")
    assert code == 1
    assert "0 to run" in output
    assert "--retry-failed" in output


def test_a_cluster_of_its_own_gives_what_the_local_engine_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results and failures alike, on a cluster that ends with the run and leaves no token in the home folder."""
    text = CELLS.replace("epochs: 2", "epochs: 1")
    failing = PLUGIN.format(what="raise ZeroDivisionError('on purpose')")
    here, there = (runner_in(tmp_path / name, failing, text) for name in ("here", "there"))
    code, said = here.run(*with_plugin(here))
    assert code == 1, said
    home = tmp_path / "home"
    home.mkdir()
    for name in TOKEN:
        monkeypatch.delenv(name, raising=False)
    process = there.start(*with_plugin(there), "--engine", "ray", environment={"HOME": str(home)})
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 1, output
    assert len(there.runs()) == 4
    assert there.bytes() == here.bytes()
    failures = [sorted((one.results / "tiny" / "failed").glob("*.json")) for one in (here, there)]
    assert [path.read_bytes() for path in failures[0]] == [path.read_bytes() for path in failures[1]]
    assert "ZeroDivisionError: on purpose (mine.py, line " in output
    assert wait_until_gone(_of_session(process.pid), seconds=60.0) == []
    assert not (home / ".ray").exists()


@pytest.mark.slow
def test_tuning_on_a_cluster_makes_the_trials_that_it_makes_here(cluster: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    here, there = (Tuner(tmp_path / name, data) for name in ("here", "there"))
    code, output = here.run("tune")
    assert code == 0, output
    code, output = there.run("tune", "--engine", "ray", "--ray-address", cluster.address)
    assert code == 0, output
    assert "runs in" in output
    assert "on Ray" in output
    assert there.outcome() == here.outcome()


def _of_session(session: int) -> list[int]:
    """The processes that were started by a session's leader, Ray's own among them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[3]) == session:
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def refused(*options: str, environment: dict[str, str] | None = None) -> tuple[int, str, float]:
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "benchmark", "run", "smoke", "--engine", "ray", *options],
        cwd=PROJECT, capture_output=True, text=True, timeout=240, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    return done.returncode, done.stderr, time.monotonic() - begun


def test_a_cluster_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        code, said, seconds = refused("--ray-address", address)
    assert code == 1
    assert f"error: no Ray cluster can be reached at {address} (Connection refused)" in said
    assert "Traceback" not in said
    assert seconds < 30.0


def test_something_else_that_listens_and_never_answers() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        code, said, seconds = refused("--ray-address", address)
    assert code == 1
    assert f"no Ray cluster can be reached at {address} (no answer within 10 s)" in said
    assert "Traceback" not in said
    assert seconds < 30.0


def test_a_cluster_that_asks_for_a_token(cluster: Any) -> None:
    code, said, seconds = refused("--ray-address", cluster.address, environment={"RAY_AUTH_MODE": "disabled"})
    assert code == 1
    assert f"no Ray cluster can be reached at {cluster.address} (it requires a token" in said
    assert "needs RAY_AUTH_MODE=token and the same token here (docs/tutorials/cluster.md)" in said
    assert "Traceback" not in said
    assert seconds < 30.0


def test_a_port_of_ray_that_is_not_the_head(cluster: Any) -> None:
    """It speaks Ray's language, but is another of its servers."""
    node = cluster.global_state.node_table()[0]
    code, said, seconds = refused("--ray-address", f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}")
    assert code == 1
    assert "(what answers there is not the head of a Ray cluster)" in said
    assert "Traceback" not in said
    assert "gcs_client" not in said
    assert seconds < 30.0


def test_ray_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'ray':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    code, said, _ = refused(environment={"PYTHONPATH": str(tmp_path)})
    assert code == 2
    assert "--engine ray needs Ray, which cannot be imported (No module named 'ray')" in said
    assert "pip install -c constraints.txt -e '.[ray]'" in said
    assert "Traceback" not in said


def test_a_worker_and_then_a_whole_node_are_killed(
    local: dict[str, str], cluster: Any, gate: Path, tmp_path: Path
) -> None:
    """Every cell has its result, once, with the bytes of the local engine. It comes last: the node stays away."""
    runner = runner_in(tmp_path)
    gate.unlink(missing_ok=True)
    (other,) = cluster.worker_nodes
    process = runner.start(*on(cluster, runner))
    wait_until_both_train(runner, cluster)
    (killed,) = training_on(cluster.head_node)
    kill(killed)
    wait_for(lambda: set(training_on(cluster.head_node)) - {killed})
    cluster.remove_node(other, allow_graceful=False)
    gate.touch()
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0, output
    assert runner.bytes() == local
    assert not list((runner.results / "tiny").glob("damaged/*"))
    assert not list((runner.results / "tiny").glob("failed/*"))
