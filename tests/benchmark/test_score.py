"""`score` and `score --update`: metrics come to stored runs without training, whole or not at all."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark import rescore
from benchmark.errors import InputError
from benchmark.store import Store

ROOT = Path(__file__).parents[2]
NEWCOMER = """
import numpy as np
from benchmark.metrics import Metric, measure

NORM = Metric("mean_norm", "Mean norm", "mean length of an embedding", unit="", range=(0.0, 1e9), decimals=3)

@measure(NORM, version=VERSION)
def mean_norm(embeddings):
    return FACTOR * float(np.linalg.norm(embeddings, axis=1).mean())
"""
EXPERIMENT = """
baseline: normface
seeds: 1
dim: 8
datasets: [digits]
recipe: {lr: 0.1, epochs: 1, batch: 128}
losses: [softmax, normface: {s: 16}]
"""


class Place:
    """A copy of the project into which a file may be dropped, and an experiment that was run."""

    def __init__(self, folder: Path) -> None:
        self.copy, self.results, self.file = folder / "copy", folder / "results", folder / "old.yaml"

    def call(self, *words: str, code: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *(("-c", code) if code else ("-m", "benchmark")), *words]
        environment = {**os.environ, "PYTHONPATH": str(self.copy)}
        return subprocess.run(command, cwd=self.copy, env=environment, capture_output=True, text=True)

    def score(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.call("score", str(self.file), "--results", str(self.results), *options)

    def drop(self, version: int = 1, factor: float = 1.0) -> None:
        text = NEWCOMER.replace("VERSION", str(version)).replace("FACTOR", str(factor))
        (self.copy / "benchmark" / "metrics" / "mean_norm.py").write_text(text)

    @property
    def store(self) -> Store:
        return Store(self.results, "old")

    def contents(self) -> dict[str, bytes]:
        files = sorted(self.store.runs.rglob("*"))
        return {str(file.relative_to(self.results)): file.read_bytes() for file in files if file.is_file()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("trained"))
    for name in ("benchmark", "losses", "datasets"):
        shutil.copytree(ROOT / name, place.copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    place.file.write_text(EXPERIMENT)
    done = place.call("run", str(place.file), "--no-report", "--workers", "1", "--results", str(place.results))
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def place(trained: Place, tmp_path: Path) -> Place:
    """As it was after training."""
    shutil.copytree(trained.copy.parent, tmp_path / "own")
    return Place(tmp_path / "own")


def test_a_metric_of_one_file_comes_to_old_runs(place: Place) -> None:
    before = {run.id: run for run in place.store.load_all()[0]}
    assert len(before) == 2
    place.drop()
    compared = place.score()
    assert compared.returncode == 0, compared.stdout
    assert "missing: mean_norm" in compared.stdout
    assert "--update" in compared.stdout
    done = place.score("--update")
    assert done.returncode == 0, done.stderr
    assert "2 runs, 2 updated" in done.stdout
    for run in place.store.load_all()[0]:
        old = before[run.id]
        embeddings = run.arrays("test/embeddings")["test/embeddings"]
        assert run.metrics["test/mean_norm"] == pytest.approx(np.linalg.norm(embeddings, axis=1).mean(), rel=1e-6)
        assert {key: value for key, value in run.metrics.items() if "mean_norm" not in key} == old.metrics
        assert run.cell["checksums"]["embeddings.safetensors"] == old.cell["checksums"]["embeddings.safetensors"]
        assert run.cell["provenance"] == old.cell["provenance"]
    assert "test/mean_norm" in pd.read_csv(place.results / "old" / "summary.csv")
    after = place.contents()
    again = place.score("--update")
    assert "2 runs, 0 updated" in again.stdout
    assert place.contents() == after
    report = place.call("report", str(place.file), "--results", str(place.results), "--no-pictures")
    assert report.returncode == 0, report.stderr
    assert "Mean norm" in (place.results / "old" / "report" / "index.html").read_text()


def test_a_new_version_is_computed_again_and_a_removed_file_named(place: Place) -> None:
    place.drop()
    assert place.score("--update").returncode == 0
    old = {run.id: run.metrics["test/mean_norm"] for run in place.store.load_all()[0]}
    place.drop(version=2, factor=2.0)
    assert "missing: mean_norm" in place.score().stdout
    assert "2 updated" in place.score("--update").stdout
    for run in place.store.load_all()[0]:
        assert run.versions["mean_norm"] == 2
        assert run.metrics["test/mean_norm"] == 2.0 * old[run.id]
    assert place.score().stdout == "2 runs, 0 metrics differ, 0 damaged runs\n"
    (place.copy / "benchmark" / "metrics" / "mean_norm.py").unlink()
    compared = place.score()
    assert compared.returncode == 0
    assert "not checked: mean_norm" in compared.stdout


KILLED = """
import json, os, shutil, signal, sys
from pathlib import Path
from benchmark import rescore
from benchmark.store import Store

results, pristine, run_id = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]


def killed_after(steps):
    for name in ("mkdir", "link", "fsync", "rename", "rmdir", "unlink"):
        def call(*arguments, real=getattr(os, name), **options):
            nonlocal steps
            steps -= 1
            if steps < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)
        setattr(os, name, call)
    rescore.update(Store(results, "old"), run_id)
    os._exit(0)


for steps in range(200):
    shutil.rmtree(results)
    shutil.copytree(pristine, results)
    child = os.fork() or killed_after(steps)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    runs, problems = Store(results, "old").load_all()
    mine = [run for run in runs if run.id == run_id]
    both = ["test/mean_norm" in mine[0].metrics, "mean_norm" in mine[0].versions] if mine else None
    print(json.dumps([status, problems, len(runs), both]))
    if status == 0:
        break
"""


def test_a_kill_at_any_step_leaves_the_old_run_or_the_new_one(place: Place) -> None:
    place.drop()
    run = place.store.load_all()[0][0]
    pristine = place.results.parent / "pristine"
    shutil.copytree(place.results, pristine)
    done = place.call(str(place.results), str(pristine), run.id, code=KILLED)
    assert done.returncode == 0, done.stderr
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(state[1:3] == [[], 2] and state[3] in ([False, False], [True, True]) for state in steps)
    assert {state[0] for state in steps[:-1]} == {-signal.SIGKILL}
    assert steps[-1][0] == 0
    assert {state[3][0] for state in steps[:-1]} == {False, True}
    place.store.clear_leftovers()
    assert not [path for path in place.store.runs.iterdir() if path.name.startswith(".")]


def test_a_run_in_use_is_left_alone(place: Place) -> None:
    run = place.store.load_all()[0][0]
    content = json.loads((run.folder / "metrics.json").read_bytes())
    del content["versions"]["retrieval"]
    held = place.store.lock(run.id)
    assert held is not None
    place.store.replace(run, {"metrics.json": json.dumps(content).encode()})
    with pytest.raises(InputError, match="in use by another process"):
        rescore.update(place.store, run.id)
    held.release()
    assert rescore.update(place.store, run.id)
    assert place.store.load(run.id).metrics == run.metrics


def test_an_altered_metric_differs(place: Place) -> None:
    run = place.store.load_all()[0][0]
    content = json.loads((run.folder / "metrics.json").read_bytes())
    content["metrics"]["test/eer"] = 0.123
    place.store.replace(run, {"metrics.json": json.dumps(content).encode()})
    done = place.score()
    assert done.returncode == 1
    assert f"differs: {run.id} test/eer: 0.123 is stored, {run.metrics['test/eer']} is computed" in done.stdout
