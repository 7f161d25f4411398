"""What a job hands back, and how the closing table reads it."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

import datasets
import losses
from benchmark import scoring
from benchmark.cell import Cell
from benchmark.code_digest import backbone_digest, loss_digest
from benchmark.engine import Job, Work, run_local
from benchmark.engine import job as job_module
from benchmark.engine.job import run_job
from benchmark.engine.progress import Progress
from benchmark.engine.worker import Setting
from benchmark.recipe import Recipe
from benchmark.run_experiment import overview_of
from benchmark.store import Store


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> datasets.Data:
    return datasets.load("digits", root=tmp_path_factory.mktemp("data"))


def job(data: datasets.Data, dim: int = 8, seed: int = 0, **recipe: Any) -> Job:
    dataset = {**datasets.resolve("digits"), "seed": 0}
    chosen = Recipe(**{"epochs": 2, **recipe})
    cell = Cell(dataset, "convnet", dim, chosen, "normface", {"s": 8.0}, seed, "normface", "digits")
    digests = data.digest, loss_digest("normface"), backbone_digest("convnet")
    return Job(cell.id(*digests), cell, *digests, 1)


def test_a_run_keeps_all_that_scoring_needs(digits: datasets.Data, tmp_path: Path) -> None:
    task = job(digits)
    packed = run_job(task, digits, "cpu", tmp_path / "checkpoint", keep_models=True)
    store = Store(tmp_path, "exp")
    store.save(task.id, packed.files, packed.cell)
    run = store.load(task.id)
    names = set(run.arrays())
    assert {"weight", "head/s", "train/centres", "train/counts", "train/mean_angles", "test/embeddings"} <= names
    assert {"test/labels", "test/logits", "test/pairs", "test/same", "test/fold", "val/embeddings"} <= names
    assert run.metrics["test/classification_accuracy"] > 0.3
    assert 0.1 < run.metrics["train/posterior"] < 1.0
    assert all(value is None or value == value for value in run.metrics.values())
    assert (run.folder / "model.safetensors").is_file()


def test_the_training_posterior_is_the_mean_softmax_of_the_own_class(digits: datasets.Data) -> None:
    """Longhand, in float64; chunked or not."""
    head = losses.create("arcface", num_classes=10, dim=4, s=8.0, m=0.5)
    embeddings = torch.randn(len(digits.train), 4, generator=torch.Generator().manual_seed(0))
    found = job_module.training_posteriors(head, digits, embeddings).numpy()
    unit = embeddings.double() / embeddings.double().norm(dim=1, keepdim=True)
    weight = head.weight.detach().double()
    raised = np.exp(8.0 * (unit @ (weight / weight.norm(dim=1, keepdim=True)).T).numpy())
    labels = digits.train.labels.numpy()
    own = raised[np.arange(len(labels)), labels] / raised.sum(axis=1)
    assert found == pytest.approx([own[labels == label].mean() for label in range(10)], rel=1e-5)
    counts = digits.class_counts.numpy()
    arrays = {"train/mean_posteriors": found, "train/counts": counts}
    assert scoring.score(arrays).metrics == {"train/posterior": pytest.approx(own.mean(), rel=1e-5)}
    assert scoring.score({"train/counts": counts}).metrics == {}


def test_posteriors_of_many_classes_are_taken_a_part_at_a_time(
    digits: datasets.Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = losses.create("normface", num_classes=10, dim=4, s=8.0)
    embeddings = torch.randn(len(digits.train), 4, generator=torch.Generator().manual_seed(0))
    whole = job_module.training_posteriors(head, digits, embeddings)
    monkeypatch.setattr(job_module, "LOGITS_AT_ONCE", 70)
    assert torch.allclose(job_module.training_posteriors(head, digits, embeddings), whole, rtol=1e-6)


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_a_net_that_ends_in_nan_is_a_diverged_run(digits: datasets.Data, tmp_path: Path, optimiser: str) -> None:
    task = job(digits, lr=1000.0, weight_decay=1.0, optimiser=optimiser, epochs=3)
    packed = run_job(task, digits, "cpu", tmp_path / "checkpoint", keep_models=False)
    content = json.loads(packed.files["metrics.json"])
    assert content["diverged_at"] is not None
    assert content["metrics"] == {}
    assert content["diverged_reason"]


def test_changed_data_are_refused(digits: datasets.Data, tmp_path: Path) -> None:
    other = datasets.load("digits", root=tmp_path, seed=1)
    with pytest.raises(ValueError, match="digits has changed since the run began"):
        run_job(job(digits), other, "cpu", tmp_path / "checkpoint", keep_models=False)


@pytest.mark.parametrize("part", ["loss_digest", "backbone_digest"])
def test_code_that_is_not_what_was_planned_is_refused(digits: datasets.Data, tmp_path: Path, part: str) -> None:
    """As where a file is edited during a run, or a node of a cluster has another version of it."""
    task = replace(job(digits), **{part: "of other code"})
    with pytest.raises(ValueError, match="the code of normface or convnet is not what the run began with"):
        run_job(task, digits, "cpu", tmp_path / "checkpoint", keep_models=False)


def test_without_its_test_split_a_run_is_scored_on_validation_alone(digits: datasets.Data, tmp_path: Path) -> None:
    blind = digits.without_tests()
    packed = run_job(job(blind), blind, "cpu", tmp_path / "checkpoint", keep_models=False)
    seeing = run_job(job(digits), digits, "cpu", tmp_path / "other", keep_models=False)
    assert not blind.tests
    assert job(blind).id != job(digits).id
    names = safetensors.torch.load(packed.files["embeddings.safetensors"]).keys()
    assert not [name for name in names if "test/" in name]
    found, whole = (json.loads(one.files["metrics.json"])["metrics"] for one in (packed, seeing))
    assert found.keys() == {name for name in whole if not name.startswith("test/")}


def test_a_job_may_bring_others_with_it(digits: datasets.Data, tmp_path: Path) -> None:
    """As trial follows trial; a failed one goes on too."""
    first, second, third = job(digits), job(digits, seed=1), job(digits, seed=2)
    failing = replace(second, dataset_digest="not the data's")
    chain = {first.id: [failing], failing.id: [third]}
    store, seen = Store(tmp_path, "exp"), io.StringIO()
    setting = Setting(tmp_path, "cpu", (), False)
    progress = Progress([first], 1, seen)
    outcome = run_local(Work([first], store, setting, 1, progress, lambda done: chain.get(done.id, [])))
    progress.close()
    assert [one.id for one in outcome.done] == [first.id, third.id]
    assert [one.id for one in outcome.failed] == [failing.id]
    assert "3/3 cells, 1 failed" in seen.getvalue()


def test_the_closing_table_tells_settings_apart(digits: datasets.Data, tmp_path: Path) -> None:
    store = Store(tmp_path, "exp")
    for task in (job(digits, dim=4), job(digits, dim=8)):
        packed = run_job(task, digits, "cpu", tmp_path / "checkpoint", keep_models=False)
        store.save(task.id, packed.files, packed.cell)
    table = overview_of(store.load_all()[0])
    assert "dim 4: classification accuracy, %" in table
    assert "dim 8: classification accuracy, %" in table
    assert "Mean over 1 seed." in table
