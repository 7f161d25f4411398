"""Experiments with stored runs made from random embeddings, scored as real ones are."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
import yaml

from benchmark import scoring, spec
from benchmark.cell import PROTOCOL_VERSION, Cell
from benchmark.code_digest import backbone_digest, loss_digest
from benchmark.results import ExperimentResults, collect
from benchmark.store import Store

CLASSES, PER_CLASS, PAIRS = 6, 12, 900
Rows = Sequence[str | dict[str, Any]]
LOSSES: Rows = ("softmax", {"normface": {"s": 16}}, {"arcface": {"s": 16, "m": 0.3}}, "adacos")
BOTH: Rows = ({"digits": None, "label": "closed set"}, {"glyphs": {"classes": 20}, "label": "open set"})


def made(
    folder: Path,
    losses: Rows = LOSSES,
    datasets: Rows = BOTH,
    seeds: int = 3,
    dim: int | list[int] = 8,
    diverged: Callable[[Cell], bool] = lambda cell: False,
    missing: Callable[[Cell], bool] = lambda cell: False,
    baseline: str = "normface",
) -> ExperimentResults:
    """An experiment of which every cell has a run, except for those that are `missing`."""
    text = {
        "name": "made",
        "baseline": baseline,
        "seeds": seeds,
        "dim": dim,
        "datasets": list(datasets),
        "losses": list(losses),
    }
    (folder / "made.yaml").write_text(yaml.safe_dump(text, allow_unicode=True))
    experiment = spec.load(str(folder / "made.yaml"))
    store = Store(folder, experiment.name)
    for number, cell in enumerate(experiment.cells()):
        if not missing(cell):
            _save(store, cell, np.random.default_rng(number), diverged(cell))
    return collect(experiment, folder)


def _save(store: Store, cell: Cell, random: np.random.Generator, diverged: bool) -> None:
    arrays = {"weight": np.eye(CLASSES, cell.dim, dtype=np.float32)} if diverged else embedded(cell, random)
    scores = scoring.Scores() if diverged else scoring.score(arrays)
    epochs = range(1, 3 if diverged else 5)
    history = [f"{epoch},{epoch * 9},{4.0 / epoch:.3f},0.1,{9.0 - epoch:.2f},0.5" for epoch in epochs]
    files = {
        **scores.files(7 if diverged else None),
        "history.csv": "\n".join(["epoch,step,loss,lr,s,m", *history, ""]).encode(),
        "embeddings.safetensors": safetensors.numpy.save(arrays),
    }
    code = {"loss_digest": loss_digest(cell.loss), "backbone_digest": backbone_digest(cell.backbone)}
    digests = {"dataset_digest": "d", **code}
    about = {
        "cell": cell.description(),
        "labels": {"loss": cell.label, "dataset": cell.dataset_label},
        "protocol": PROTOCOL_VERSION,
        "provenance": {"begun": "2026-01-01T00:00:00Z"},
        **digests,
    }
    store.save(cell.id(**digests), files, about)


def embedded(cell: Cell, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Embeddings around class weights, with the arrays that a real run keeps."""
    labels = np.repeat(np.arange(CLASSES), PER_CLASS)
    weight = random.standard_normal((CLASSES, cell.dim)).astype(np.float32)
    noise = 0.5 * random.standard_normal((len(labels), cell.dim))
    embeddings = (weight[labels] + noise).astype(np.float32)
    pairs = np.array([random.choice(len(labels), 2, replace=False) for _ in range(PAIRS)], dtype=np.int32)
    pairs[: PAIRS // 3, 1] = pairs[: PAIRS // 3, 0] ^ 1  # most of these are neighbours of one class
    centres = np.eye(CLASSES, cell.dim) if cell.dim >= CLASSES else np.ones((CLASSES, cell.dim)) / cell.dim**0.5
    arrays = {
        "weight": weight,
        "train/centres": centres,
        "train/counts": np.full(CLASSES, 20),
        "train/mean_angles": np.full(CLASSES, 10.0),
        "test/embeddings": embeddings,
        "test/labels": labels,
        "test/pairs": pairs,
        "test/same": labels[pairs[:, 0]] == labels[pairs[:, 1]],
        "test/fold": (np.arange(PAIRS) % 10).astype(np.int16),
        "posterior": np.array(1),
    }
    if cell.dataset["name"] == "digits":
        arrays["test/logits"] = embeddings @ weight.T
    return arrays
