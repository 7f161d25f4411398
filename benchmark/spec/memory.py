"""How much memory a worker needs, roughly: the process itself, its images, the step of training, and the scoring.

What a step keeps is counted on torch's meta device, which knows the size of every tensor and computes nothing. The
constants were fitted to five backbones at 8 to 112 pixels. It is the memory of the CPU, not of a GPU.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from math import isqrt

import torch

import datasets
from benchmark import backbones
from benchmark.cell import Cell

MEMORY_FACTOR = 1.5
"""Within it the estimate is right; a test compares it with a real run."""
PROCESS = 520e6
"""Bytes of a worker before its first cell: Python, torch, pandas and what scoring imports."""
KEPT_DATASETS = 2
"""A worker keeps the data of two datasets."""
SPLITS = 2.0
"""Images of all splits for each training image. Most datasets train on more than half of their images."""
STEP_OVERHEAD = 1.7
"""Bytes that a step takes for each byte that autograd keeps: gradients and intermediate results."""
FLOAT = 4
FEW = 2  # images; normalisation needs two


@dataclass(frozen=True)
class _Needs:
    data: float
    step: float
    scoring: float


def estimate_memory(cells: Iterable[Cell]) -> float | None:
    """Bytes of one worker at its peak if it runs all of these cells; None where the size of some data is unknown."""
    found: dict[str, _Needs | None] = {}
    for cell in cells:
        key = json.dumps([cell.dataset, cell.backbone, cell.dim, cell.recipe.batch], sort_keys=True)
        if key not in found:
            found[key] = _needs(cell)
    known = [one for one in found.values() if one is not None]
    if not known or len(known) < len(found):
        return None
    data = sorted({one.data for one in known})[-KEPT_DATASETS:]
    return PROCESS + sum(data) + max(max(one.step, one.scoring) for one in known)


def _needs(cell: Cell) -> _Needs | None:
    size = datasets.training_size(cell.dataset)
    if size is None:
        return None
    channels, side = datasets.channels(cell.dataset), isqrt(size.pixels)
    images = SPLITS * size.images
    batch = int(min(cell.recipe.batch, max(size.images, 2)))
    step = _step(cell.backbone, (channels, side, side), cell.dim, batch) + _head(size.classes, cell.dim, batch)
    logits = images * size.classes * FLOAT if datasets.protocol(cell.dataset) == "closed" else 0.0
    return _Needs(images * channels * size.pixels, step, images * cell.dim * 2 * FLOAT + 2 * logits)


def _step(backbone: str, shape: tuple[int, int, int], dim: int, batch: int) -> float:
    """Weights, gradients and two moments of the optimiser, and what autograd keeps of a batch."""
    try:
        weights, kept = _kept_by_autograd(backbone, shape, dim, batch, "meta")
    except (RuntimeError, NotImplementedError):  # a net that looks at values needs real ones
        weights, kept = _kept_by_autograd(backbone, shape, dim, FEW, "cpu")
        kept *= batch / FEW
    return 4 * weights + STEP_OVERHEAD * kept


def _kept_by_autograd(
    backbone: str, shape: tuple[int, int, int], dim: int, batch: int, device: str
) -> tuple[float, float]:
    """Bytes of the weights, and bytes that autograd keeps for the backward pass."""
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage._cdata] = storage.nbytes()  # a view shares it, and counts once
        return tensor

    with torch.random.fork_rng(devices=[]), torch.device(device):
        net = backbones.get(backbone)(shape, dim)
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            net(torch.zeros(batch, *shape)).sum()
    return float(sum(one.nbytes for one in net.parameters())), float(sum(kept.values()))


def _head(classes: int, dim: int, batch: int) -> float:
    """The class weights as those of the net, and logits with their gradient."""
    return 4 * classes * dim * FLOAT + 4 * batch * classes * FLOAT
