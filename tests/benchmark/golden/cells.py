"""Tiny cells that together take every path of the shared machinery, and what comes out of them."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

import losses
from benchmark import backbones
from benchmark.cell import Cell
from benchmark.code_digest import backbone_digest, loss_digest
from benchmark.recipe import Recipe
from benchmark.recipe.augmentation import AUGMENTATIONS
from benchmark.recipe.optimisers import OPTIMISERS
from benchmark.recipe.schedules import SCHEDULES
from benchmark.training import Trained, embed, train
from datasets import Data, Split

IMAGES, FEW, MANY = 12, 6, 24_000  # with MANY classes the fused path is the faster one, in two tiles


@dataclass(frozen=True)
class Outcome:
    """The digest is of every bit of weights, embeddings and history; the figures are for other processors."""

    digest: str
    code: str
    figures: dict[str, float]


def cells() -> dict[str, Cell]:
    """By name: each backbone, loss, fused path, optimiser, schedule and augmentation, and label smoothing."""
    return dict(_cells())


def _cells() -> Iterator[tuple[str, Cell]]:
    for name in backbones.names():
        yield f"backbone {name}", _cell(backbone=name)
    for name in losses.names():
        yield f"loss {name}", _cell(name, epochs=2)
    for gradient in ("exact", "detached"):
        yield f"plain arcface {gradient}", _cell(hyper={"gradient": gradient})
        yield f"fused arcface {gradient}", _cell(hyper={"gradient": gradient}, data="many")
    for name in ("normface", "adacos", "adaacos", "magface", "elasticface"):
        yield f"fused {name}", _cell(name, data="many")
    yield "label smoothing", _cell(label_smoothing=0.1)
    for name in OPTIMISERS.names():
        yield f"optimiser {name}", _cell(optimiser=name, epochs=2)
    for name in SCHEDULES.names():
        yield f"schedule {name}", _cell(schedule=name, warmup=0.25, milestones=(0.5,), epochs=3)
    for name in AUGMENTATIONS.names():
        yield f"augmentation {name}", _cell(augmentation=name)


def _cell(
    loss: str = "arcface",
    hyper: dict[str, Any] | None = None,
    backbone: str = "convnet",
    data: str = "few",
    **recipe: Any,
) -> Cell:
    chosen = Recipe(**{"lr": 0.01, "epochs": 1, "batch": IMAGES // 2, **recipe})
    return Cell({"name": data}, backbone, 4, chosen, loss, hyper or {}, seed=0)


@cache
def data(name: str) -> Data:
    """Noise, the same on every machine: nothing is computed with floating-point numbers."""
    draw = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (IMAGES, 3, 32, 32), generator=draw, dtype=torch.uint8)
    classes = FEW if name == "few" else MANY
    labels = torch.arange(IMAGES) * (classes // FEW + 1) % classes
    split = Split(images, labels, tuple(str(number) for number in range(classes)))
    return Data(name, "closed", split, split, {"test": split})


def outcome(cell: Cell) -> Outcome:
    """Trains the cell on one thread."""
    torch.set_num_threads(1)
    trained = train(cell, data(cell.dataset["name"]))
    images, labels = data(cell.dataset["name"]).train.images, data(cell.dataset["name"]).train.labels
    embeddings, weight = embed(trained.backbone, images), trained.head.weight.detach()
    total = hashlib.sha256(json.dumps(trained.history, sort_keys=True).encode())
    for tensor in (embeddings, weight):
        total.update(tensor.contiguous().numpy().tobytes())
    code = loss_digest(cell.loss) + backbone_digest(cell.backbone)
    figures = _figures(trained, embeddings, weight[labels])
    return Outcome(total.hexdigest(), hashlib.sha256(code.encode()).hexdigest(), figures)


def _figures(trained: Trained, embeddings: Tensor, own: Tensor) -> dict[str, float]:
    """Those that are finite: a deep net that has seen two batches has no usable running statistics yet."""
    found = {
        "loss": float(trained.history[-1]["loss"]),
        "backbone norm": float(torch.nn.utils.get_total_norm(trained.backbone.parameters())),
        "weight norm": float(own.norm(dim=1).mean()),
        "mean cosine": float(torch.cosine_similarity(embeddings, own).mean()),
    }
    return {name: value for name, value in found.items() if math.isfinite(value)}
