"""A running cell can be watched: on the terminal, and in a file."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.engine import status
from benchmark.engine.job import run_job
from benchmark.engine.progress import Progress
from benchmark.engine.status import Status, StatusFile, read_status
from benchmark.training.loop import Moment
from datasets import Data, load
from tests.benchmark.engine.test_job import job


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return load("digits", root=tmp_path_factory.mktemp("data"))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(status, "time", found)
    return found


def moment(step: int, loss: float = 2.5, history: list[Any] | None = None) -> Moment:
    return Moment(1 + step // 100, 3, step, 300, 64.0, loss, history or [])


def test_the_file_says_where_the_run_is(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "running" / "cell.json"
    write = StatusFile(path)
    for step in range(1, 51):
        write(moment(step))
        clock.now += 0.125
    found = read_status(path)
    assert found is not None
    assert (found.epoch, found.epochs, found.step, found.steps, found.loss) == (1, 3, 49, 300, 2.5)
    assert found.images_per_second == pytest.approx(512.0)
    assert found.seconds_left == pytest.approx(31.375)
    assert found.in_words() == "epoch 1/3, step 49/300, loss 2.5, 512 images/s, 31 s left"
    assert [one.name for one in path.parent.iterdir()] == ["cell.json"]


def test_a_resumed_run_is_timed_from_where_it_continues(tmp_path: Path, clock: Clock) -> None:
    write = StatusFile(tmp_path / "cell.json")
    for step in range(201, 232):
        write(moment(step))
        clock.now += 0.125
    found = read_status(tmp_path / "cell.json")
    assert found is not None
    assert found.images_per_second == pytest.approx(512.0)


def test_the_history_grows(tmp_path: Path, clock: Clock) -> None:
    write = StatusFile(tmp_path / "cell.json")
    for epochs in range(3):
        write(moment(100 * epochs + 1, history=[{"epoch": n + 1, "loss": 1.0} for n in range(epochs)]))
        lines = (tmp_path / "cell.csv").read_text().splitlines() if epochs else []
        assert len(lines) == (epochs + 1 if epochs else 0)


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "running").write_text("a file where the folder should be")
    write = StatusFile(tmp_path / "running" / "cell.json")
    for step in (1, 2, 3):
        write(moment(step, history=[{"epoch": 1}]))
        clock.now += 5.0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"epoch": 1}', b"x" * 20_000])
def test_a_file_that_is_not_a_status_is_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cell.json").write_bytes(content)
    assert read_status(tmp_path / "cell.json") is None
    assert read_status(tmp_path / "absent.json") is None


def test_a_real_cell_writes_both(digits: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "SECONDS_BETWEEN_WRITES", 0.0)
    path = tmp_path / "running" / "cell.json"
    packed = run_job(job(digits), digits, "cpu", tmp_path / "checkpoint", keep_models=False, status=path)
    found = read_status(path)
    history = list(csv.DictReader(io.StringIO(packed.files["history.csv"].decode())))
    assert found is not None
    assert found.step == found.steps == int(history[-1]["step"])
    assert found.seconds_left == 0.0


def test_lines_show_each_running_cell(digits: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.engine.progress.SECONDS_BETWEEN_LINES", 0.0)
    (tmp_path / "one.json").write_text(json.dumps(vars(Status(2, 3, 150, 300, 1.25, 1000.0, 30.0))))
    seen = io.StringIO()
    progress = Progress([job(digits), job(digits, seed=1)], 2, seen)
    progress.running({"first": tmp_path / "one.json", "second": tmp_path / "two.json"})
    assert "first: epoch 2/3, step 150/300, loss 1.25, 1,000 images/s, 30 s left\n" in seen.getvalue()
    assert "second:" not in seen.getvalue()
