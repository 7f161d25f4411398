"""The parts of the Ray engine that need no cluster."""

import io
import os
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import datasets
from benchmark import run_experiment
from benchmark.cell import Resources
from benchmark.engine import ray_cluster, ray_node
from benchmark.engine.base import GivenUpError, Work
from benchmark.engine.plan import Job
from benchmark.engine.progress import Progress
from benchmark.engine.ray_data import as_arrays, as_tensors, can_travel
from benchmark.engine.worker import Setting
from benchmark.options import RunOptions
from benchmark.store import Store
from tests.benchmark.engine.runner import PROJECT


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"engine": "slurm"}, "--engine slurm: expected local or ray"),
        ({"ray_address": "auto"}, "--ray-address auto needs --engine ray"),
        ({"engine": "ray", "device": "cuda:0"}, "--device cuda:0: with --engine ray expected cpu or cuda"),
        ({"engine": "ray", "ray_address": "10.0.0.1"}, "expected auto or HOST:PORT"),
        ({"engine": "ray", "ray_address": "10.0.0.1:0"}, "expected auto or HOST:PORT"),
        ({"engine": "ray", "ray_address": "10.0.0.1:70000"}, "expected auto or HOST:PORT"),
        ({"engine": "ray", "ray_address": "ray://10.0.0.1:10001"}, "expected auto or HOST:PORT"),
        ({"engine": "ray", "ray_address": ""}, "expected auto or HOST:PORT"),
    ],
)
def test_what_cannot_be_meant(settings: dict[str, Any], said: str) -> None:
    pytest.importorskip("ray")
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        run_experiment.check_engine(RunOptions(**settings))


@pytest.mark.parametrize(
    ("has", "asked", "device", "fitting"),
    [
        ({"CPU": 8.0}, Resources(), "cpu", 8),
        ({"CPU": 8.0}, Resources(cpus=3.0), "cpu", 2),
        ({"CPU": 1.0}, Resources(cpus=0.1), "cpu", 10),
        ({"CPU": 2.0}, Resources(cpus=4.0), "cpu", 0),
        ({}, Resources(), "cpu", 0),
        ({"CPU": 64.0}, Resources(), "cuda", 0),
        ({"CPU": 64.0, "GPU": 8.0}, Resources(), "cuda", 8),
        ({"CPU": 64.0, "GPU": 8.0}, Resources(gpus=0.25), "cuda", 32),
        ({"CPU": 4.0, "GPU": 8.0}, Resources(gpus=0.25), "cuda", 4),
        ({"CPU": 64.0, "GPU": 1.0}, Resources(gpus=0.3), "cuda", 3),
    ],
)
def test_how_many_cells_fit_on_a_node(has: dict[str, float], asked: Resources, device: str, fitting: int) -> None:
    assert ray_cluster._fitting(has, asked, device) == fitting


@pytest.mark.parametrize("test", [True, False])
def test_a_dataset_arrives_as_it_was(test: bool) -> None:
    data = datasets.load("digits", seed=0, wrappers=[{"label_noise": {"share": 0.2}}])
    sent = as_arrays(data if test else data.without_tests())
    for split in (sent.train, sent.val, *sent.tests.values()):
        split.images.setflags(write=False)  # as they are in the memory that a node's workers share
    arrived = as_tensors(sent)
    assert can_travel(data)
    assert arrived.digest == (data if test else data.without_tests()).digest
    assert arrived.train.names == data.train.names
    assert arrived.train.noisy.sum() == data.train.noisy.sum() > 0
    assert arrived.train.images.data_ptr() == sent.train.images.ctypes.data  # type: ignore[attr-defined]
    assert arrived.train.labels.data_ptr() != sent.train.labels.ctypes.data


@pytest.fixture
def http2_server() -> Iterator[str]:
    """The address of something that speaks HTTP/2 as Ray does, and then says no more."""

    class Greeting(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(bytes(3) + ray_cluster.HTTP2_SETTINGS + bytes(5))
            while self.request.recv(1024):
                pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Greeting) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_another_server_that_speaks_http2(
    http2_server: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(ray_cluster, "SECONDS_TO_NAME_ITSELF", 1)
    monkeypatch.setattr(ray_cluster, "SECONDS_TO_ASK", 120.0)
    with pytest.raises(ConnectionError, match=r"\(what answers there is not the head of a Ray cluster\)"):
        run_experiment.check_engine(RunOptions(engine="ray", ray_address=http2_server))
    assert capfd.readouterr().err == ""


def test_a_head_that_is_too_slow(http2_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(ray_cluster, "SECONDS_TO_ASK", 0.2)
    with pytest.raises(ConnectionError, match="no answer within 0 s"):
        run_experiment.check_engine(RunOptions(engine="ray", ray_address=http2_server))


def test_checking_an_address_takes_less_than_half_a_minute() -> None:
    longest = (ray_cluster.SECONDS_TO_CONNECT, ray_cluster.SECONDS_TO_ANSWER, ray_cluster.SECONDS_TO_ASK)
    assert sum(longest) < 30.0
    assert ray_cluster.SECONDS_TO_NAME_ITSELF < ray_cluster.SECONDS_TO_ASK


@pytest.mark.parametrize("before", [{}, {"RAY_AUTH_MODE": "disabled", "RAY_AUTH_TOKEN": "theirs"}])
def test_the_token_of_our_own_cluster_ends_with_it(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    for name in ray_cluster.TOKEN:
        monkeypatch.delenv(name, raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    tokens = set()
    for _ in range(2):
        with ray_cluster._token_of_its_own():
            tokens.add(os.environ["RAY_AUTH_TOKEN"])
            assert os.environ.get("RAY_AUTH_MODE") == before.get("RAY_AUTH_MODE")
            os.environ["RAY_AUTH_MODE"] = "token"  # as Ray does where nothing is said
        assert {name: os.environ[name] for name in ray_cluster.TOKEN if name in os.environ} == before
    assert len(tokens - set(before.values())) == 2
    assert min(map(len, tokens)) == 64


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setattr(ray_node.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return cast(Job, SimpleNamespace(id="a" * 16))


def test_a_checkpoint_outlives_a_worker_that_is_killed_and_nothing_else(job: Job) -> None:
    killed = (
        "import os, types; from benchmark.engine.ray_node import checkpoint_of\n"
        "with checkpoint_of(types.SimpleNamespace(id='a' * 16), 'run') as path:\n"
        "    path.write_bytes(b'half way'); os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", killed], cwd=PROJECT).returncode == -9
    with ray_node.checkpoint_of(job, "another run") as path:
        assert not path.exists()
    with ray_node.checkpoint_of(job, "run") as path:
        assert path.read_bytes() == b"half way"
        with ray_node.checkpoint_of(job, "run") as own:
            assert own != path
            assert not own.exists()
    assert not path.exists()
    with pytest.raises(ZeroDivisionError):
        fail_with_a_checkpoint(job)
    assert not path.exists()


def fail_with_a_checkpoint(job: Job) -> None:
    with ray_node.checkpoint_of(job, "run") as path:
        path.write_bytes(b"of no use")
        raise ZeroDivisionError


def test_a_folder_that_others_may_write_to_is_not_used(job: Job) -> None:
    ray_node.node_folder().chmod(0o777)
    with pytest.raises(PermissionError, match="only its owner"):
        ray_node.node_folder()
    os.rmdir(Path(ray_node.tempfile.gettempdir(), f"marginbench-{os.getuid()}"))
    assert ray_node.node_folder().stat().st_mode & 0o777 == 0o700


def test_a_dataset_that_ray_does_not_bring_is_no_failure_of_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def get(reference: Any) -> Any:
        raise ray.exceptions.OwnerDiedError("00" * 28, None, "")

    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray_node, "_prepared", True)
    job = cast(Job, SimpleNamespace(cell=SimpleNamespace(dataset_label="digits"), dataset_digest="of digits"))
    kind, said = ray_node.run_cell(job, cast(ray_node.Order, SimpleNamespace(setting=None)), [object()])
    assert kind == "unfetched"
    assert said == f"digits did not reach the node {socket.gethostname()} (OwnerDiedError)"


def test_a_plugin_arrives_as_files_of_the_same_names_and_content(job: Job) -> None:
    """Its digest is that of the files' content, so its cells have the same ids everywhere."""
    helper = ("tools/__init__.py", b"b = 1\n")
    first, second = (ray_node._on_disk((("mine.py", content), helper)) for content in (b"a = 1\n", b"a = 2\n"))
    assert first.name == second.name == "mine.py"
    assert first.read_bytes() == b"a = 1\n"
    assert second.read_bytes() == b"a = 2\n"
    assert (first.parent / "tools" / "__init__.py").read_bytes() == b"b = 1\n"
    first.write_bytes(b"changed")
    assert ray_node._on_disk((("mine.py", b"a = 1\n"), helper)).read_bytes() == b"a = 1\n"


LABEL = "digits"


def a_job(number: int, dataset: str = LABEL) -> Job:
    cell = SimpleNamespace(resources=Resources(), dataset={}, access={}, dataset_label=dataset, title=f"cell {number}")
    cell.description = lambda: {"seed": number}
    job = SimpleNamespace(id=f"{number:016x}", cell=cell, dataset_digest=dataset, images=1, name=cell.title)
    return cast(Job, job)


@pytest.fixture
def make_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The Ray engine with jobs to do, and without a cluster: what comes back from it is what `ray.get` is given."""
    ray = pytest.importorskip("ray")
    from benchmark.engine import ray_engine

    monkeypatch.setattr(ray, "get", lambda answer: answer)
    monkeypatch.setattr(ray, "put", lambda data: f"reference to {data}")
    monkeypatch.setattr(ray_engine, "load_data", lambda *where: "data")
    monkeypatch.setattr(ray_engine, "can_travel", lambda data: True)
    monkeypatch.setattr(ray_engine, "as_arrays", lambda data: data)

    def make(jobs: list[Job], workers: int = 0, address: str | None = None, device: str = "cpu") -> Any:
        progress = Progress(jobs, workers, io.StringIO())
        setting = Setting(None, device, (), keep_models=False)
        engine = ray_engine._OnRay(Work(jobs, Store(tmp_path, "tiny"), setting, workers, progress), address)
        engine.task = SimpleNamespace(options=lambda **options: SimpleNamespace(remote=lambda *given: object()))
        return engine

    return make


def is_free(engine: Any, job: Job) -> bool:
    claim = engine.store.lock(job.id)
    if claim is not None:
        claim.release()
    return claim is not None


def test_a_run_whose_data_does_not_arrive_ends_without_a_failed_cell(make_engine: Callable[..., Any]) -> None:
    engine = make_engine([job := a_job(1)])
    for _ in range(2):
        found, claim = engine.next_job()
        engine._came_back(("unfetched", "digits did not reach the node n1 (OwnerDiedError)"), found, claim)
        assert list(engine.waiting) == [job]
        assert is_free(engine, job)
    found, claim = engine.next_job()
    with pytest.raises(GivenUpError, match=r"n1 \(OwnerDiedError\), 3 times: .* RAY_AUTH_MODE and the token"):
        engine._came_back(("unfetched", "digits did not reach the node n1 (OwnerDiedError)"), found, claim)
    assert engine.store.failure(job.id) is None


@pytest.mark.parametrize(("workers", "address"), [(0, None), (1, None), (0, "10.0.0.1:6379")])
def test_a_cell_that_no_node_can_run(
    make_engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, workers: int, address: str | None
) -> None:
    engine = make_engine([a_job(1)], workers, address, "cuda")
    monkeypatch.setattr("benchmark.engine.ray_engine.room", lambda resources, device: 0)
    with pytest.raises(GivenUpError, match=r"no node of the Ray cluster has the 1 CPU and 1 of a GPU that a cell"):
        engine._check_that_a_cell_fits(Resources())


def test_cells_may_wait_for_nodes_of_a_cluster_that_grows(
    make_engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine([a_job(1)], 4, "10.0.0.1:6379")
    monkeypatch.setattr("benchmark.engine.ray_engine.room", lambda resources, device: 0)
    engine._check_that_a_cell_fits(Resources())
    said = "note: no node of the Ray cluster has the 1 CPU that a cell asks for: the cells wait for one that has\n"
    assert engine.progress.stream.getvalue() == said


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), GivenUpError("no room"), RuntimeError("odd")])
def test_a_cell_is_free_again_when_its_data_is_not_loaded_to_the_end(
    make_engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    engine = make_engine([job := a_job(1)])

    def load(*where: Any) -> None:
        assert not is_free(engine, job)
        raise problem

    monkeypatch.setattr("benchmark.engine.ray_engine.load_data", load)
    with pytest.raises(type(problem)):
        engine._send()
    assert is_free(engine, job)
    assert engine.store.failure(job.id) is None


def test_a_dataset_stays_in_rays_memory_until_its_last_cell_came_back(
    make_engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [a_job(1, "first"), a_job(2, "first"), a_job(3, "second")]
    engine = make_engine(jobs)
    answers = {job.id: ("error", "on purpose") for job in jobs}
    monkeypatch.setattr("ray.wait", lambda references, timeout: (references[:1], references[1:]))
    monkeypatch.setattr("ray.get", lambda reference: answers[engine.underway[reference][0].id])
    kept = []
    while engine.waiting or engine.underway:
        if engine.waiting:
            engine._send()
        engine._hear()
        kept.append(sorted(engine.data))
    assert kept == [["first"], [], []]
    assert [failure.id for failure in engine.outcome.failed] == [job.id for job in jobs]


def test_a_run_ends_in_good_order_some_time_after_the_head_was_lost(
    make_engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Ray ends the process, and without asking the head for anything."""
    engine, head, counted = make_engine([a_job(1)]), {"answers": True}, []

    def look(*moments: float) -> None:
        for moment in moments:
            clock.monotonic = lambda moment=moment: moment
            engine._look_at_the_cluster()

    def count(resources: Resources, device: str) -> int:
        assert head["answers"]
        counted.append(clock.monotonic())
        return 3

    clock = SimpleNamespace()
    monkeypatch.setattr("benchmark.engine.ray_engine.time", clock)
    monkeypatch.setattr("benchmark.engine.ray_engine.head_answers", lambda: head["answers"])
    monkeypatch.setattr("benchmark.engine.ray_engine.room", count)
    look(1000.0, 1001.0, 1006.0)
    assert counted == [1000.0, 1006.0]
    assert engine._most() == 3
    head["answers"] = False
    look(1012.0, 1018.0, 1036.0)
    with pytest.raises(GivenUpError, match="the head of the Ray cluster has not answered for 30 s"):
        look(1042.0)


def test_whether_the_head_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{head.getsockname()[1]}"
        monkeypatch.setattr(ray, "get_runtime_context", lambda: SimpleNamespace(gcs_address=address))
        assert not ray_cluster.head_answers()
        head.listen()
        assert ray_cluster.head_answers()
