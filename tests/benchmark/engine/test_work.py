"""What a job hands back, and how the closing table reads it."""

import json
from pathlib import Path
from typing import Any

import pytest

import datasets
from benchmark.cell import Cell, Recipe
from benchmark.engine import Job
from benchmark.engine.plan import loss_digest
from benchmark.engine.work import run_job
from benchmark.running import overview
from benchmark.store import Store


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> datasets.Data:
    return datasets.load("digits", root=tmp_path_factory.mktemp("data"))


def job(data: datasets.Data, dim: int = 8, seed: int = 0, **recipe: Any) -> Job:
    dataset = {**datasets.resolve("digits"), "seed": 0}
    chosen = Recipe(**{"epochs": 2, **recipe})
    cell = Cell(dataset, "convnet", dim, chosen, "normface", {"s": 8.0}, seed, "normface", "digits")
    digest = loss_digest("normface")
    return Job(cell.id(data.digest, digest), cell, data.digest, digest, 1)


def test_a_run_keeps_all_that_scoring_needs(digits: datasets.Data, tmp_path: Path) -> None:
    work = job(digits)
    packed = run_job(work, digits, "cpu", tmp_path / "checkpoint", keep_models=True)
    store = Store(tmp_path, "exp")
    store.save(work.id, packed.files, packed.cell)
    run = store.load(work.id)
    names = set(run.arrays())
    assert {"weight", "head/s", "train/centres", "train/counts", "train/mean_angles", "test/embeddings"} <= names
    assert {"test/labels", "test/logits", "test/pairs", "test/same", "test/fold", "val/embeddings"} <= names
    assert run.metrics["figures"]["test/classification_accuracy"] > 0.3
    assert all(value is None or value == value for value in run.metrics["figures"].values())
    assert (run.folder / "model.safetensors").is_file()


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_a_net_that_ends_in_nan_is_a_diverged_run(digits: datasets.Data, tmp_path: Path, optimiser: str) -> None:
    work = job(digits, lr=1000.0, weight_decay=1.0, optimiser=optimiser, epochs=3)
    packed = run_job(work, digits, "cpu", tmp_path / "checkpoint", keep_models=False)
    content = json.loads(packed.files["metrics.json"])
    assert content["diverged_at"] is not None
    assert content["figures"] == {}
    assert content["diverged_reason"]


def test_changed_data_are_refused(digits: datasets.Data, tmp_path: Path) -> None:
    other = datasets.load("digits", root=tmp_path, seed=1)
    with pytest.raises(ValueError, match="digits has changed since the run began"):
        run_job(job(digits), other, "cpu", tmp_path / "checkpoint", keep_models=False)


def test_the_closing_table_tells_settings_apart(digits: datasets.Data, tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    for work in (job(digits, dim=4), job(digits, dim=8)):
        packed = run_job(work, digits, "cpu", tmp_path / "checkpoint", keep_models=False)
        store.save(work.id, packed.files, packed.cell)
    table = overview(store.load_all()[0])
    assert "dim 4 classification %" in table
    assert "dim 8 classification %" in table
    assert "mean over 1 seed" in table
