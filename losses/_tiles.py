"""The B×C cosines, one tile of classes at a time, without each sample's own class."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from losses._angles import inverse_norms

TILE_ENTRIES = 2**20  # B×T numbers per tile: few enough for the cache, enough to make the calls cheap
NARROWEST, WIDEST = 512, 16_384


@dataclass(frozen=True)
class Tile:
    """Classes `start` to `stop`, and the places of the batch's own classes in the tile."""

    start: int
    stop: int
    own: Tensor  # positions in the flattened B×T block

    def strike_out(self, block: Tensor) -> None:
        block.view(-1).index_fill_(0, self.own, -math.inf)


def tiles(labels: Tensor, num_classes: int) -> list[Tile]:
    """Cuts the classes into tiles. Sorting the labels once lets every tile find its own quickly."""
    width = min(max(TILE_ENTRIES // len(labels), NARROWEST), WIDEST)
    if width >= num_classes:
        rows = torch.arange(0, len(labels) * num_classes, num_classes, device=labels.device)
        return [Tile(0, num_classes, rows.add_(labels))]
    by_class, order = labels.sort()
    edges = [*range(0, num_classes, width), num_classes]
    cuts = torch.searchsorted(by_class, torch.tensor(edges, device=labels.device)).tolist()
    return [
        Tile(start, stop, order[first:last] * (stop - start) + by_class[first:last] - start)
        for (start, stop), (first, last) in zip(itertools.pairwise(edges), itertools.pairwise(cuts), strict=True)
    ]


@torch.no_grad()
def _negatives(rows: Tensor, weight: Tensor, labels: Tensor) -> Iterator[Tensor]:
    rows = rows.to(weight.dtype)
    for tile in tiles(labels, len(weight)):
        classes = weight[tile.start : tile.stop]
        block = (rows @ classes.T).mul_(inverse_norms(classes))
        tile.strike_out(block)
        yield block


def hardest_negative(unit: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
    """max over j≠y of c_j, for each row of `unit`."""
    best = unit.new_full((len(unit),), -math.inf)
    for block in _negatives(unit, weight, labels):
        best = torch.maximum(best, block.amax(1))
    return best.clamp(-1.0, 1.0)


def log_mean_exp_of_negatives(unit: Tensor, weight: Tensor, labels: Tensor, s: float) -> Tensor:
    """ln of the batch's mean of Σ_{j≠y} exp(s·c_j)."""
    total = unit.new_tensor(-math.inf)
    for block in _negatives(unit * s, weight, labels):
        peak = block.amax()
        if peak > -math.inf:
            total = torch.logaddexp(total, block.sub_(peak).exp_().sum().log() + peak)
    return total - math.log(len(unit))
