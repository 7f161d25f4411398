"""Cross-entropy over s·cos θ with another target logit, with no B×C intermediates except one block.

Forward computes the classes tile by tile, with a maximum for each row and tile. The target's entry is removed before
the exponential and added separately, because subtracting it afterwards cancels on trained embeddings. Backward
computes both gradients of a tile in one pass: from the exponentials that forward kept if they fit into `KEEP_BYTES`,
otherwise from new ones. The target's cosine and logit are in float64, because at s=256 an error of 1e-7 in that cosine
is visible.
"""

import math
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from losses._angles import inverse_norms, wide
from losses._tiles import Tile, tiles

if TYPE_CHECKING:
    from losses._head import Batch

KEEP_BYTES = 128 * 2**20
LOWEST = -1e30  # replaces −∞ as the maximum of a row that has only its own class in a tile
_spare: dict[tuple[torch.dtype, torch.device], Tensor] = {}  # one store is reused, because new memory costs page faults


def fused_cross_entropy(batch: "Batch", scale: Tensor, target: Tensor, slope: Tensor) -> Tensor:
    """−ln of the target's posterior, for each sample (B), in float64.

    scale   B factors of the cosines; gradients flow to them
    target  B target logits; gradients flow to them
    slope   d target / d cosine, by which the gradient reaches embeddings and weights
    """
    with_gradient = torch.is_grad_enabled()
    loss: Tensor = _FusedCrossEntropy.apply(batch.embeddings, batch.weight, scale, target, slope, batch, with_gradient)  # type: ignore[no-untyped-call]
    return loss


class _FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        embeddings: Tensor,
        weight: Tensor,
        scale: Tensor,
        target: Tensor,
        slope: Tensor,
        batch: "Batch",
        with_gradient: bool,
    ) -> Tensor:
        size, classes = len(embeddings), len(weight)
        cut = tiles(batch.labels, classes)
        keep = with_gradient and size * classes * weight.element_size() <= KEEP_BYTES
        store = _take_store(size * (classes if keep else cut[0].stop), weight)
        own = batch.directions
        rows = torch.mul(own.unit, scale[:, None], out=torch.empty_like(embeddings))
        peaks: list[Tensor] = []
        inverse: list[Tensor] = []
        log_total = target.new_tensor(-math.inf)
        for tile in cut:
            tile_weight = weight[tile.start : tile.stop]
            inverse.append(inverse_norms(tile_weight))
            block = _block(store, tile, size, keep)
            torch.mm(rows, tile_weight.T, out=block)
            peaks.append(_exponentials(block, tile, inverse[-1]))
            log_sum = block.sum(1).to(target.dtype).log_().add_(peaks[-1])
            if keep:
                block.mul_(inverse[-1])
            log_total = log_sum if len(peaks) == 1 else torch.logaddexp(log_total, log_sum)
        against = log_total - target  # ln Σ_{j≠y} e^(ℓ_j − ℓ_y)
        loss = F.softplus(against, threshold=50.0)
        ctx.cut, ctx.inverse, ctx.peaks, ctx.store = cut, inverse, peaks, store if keep else None
        if not keep:
            _give_back(store)
        ctx.save_for_backward(
            weight, scale, target, slope, batch.labels, own.unit, own.inverse_norm,
            own.target_unit, own.target_inverse_norm, own.cosine, rows, against, loss,
        )  # fmt: skip
        return loss

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError("the fused path has no second derivative: set head.fused = False for create_graph=True")
        (weight, scale, target, slope, labels, unit, inverse,
         target_unit, own_inverse, cosine, rows, against, loss) = ctx.saved_tensors  # fmt: skip
        log_total = loss + target
        weight_gradient = torch.empty_like(weight) if ctx.needs_input_grad[1] else None
        towards = torch.zeros_like(rows)  # Σ_{j≠y} p_j·w_j, times the upstream gradient
        for number, (tile, tile_inverse) in enumerate(zip(ctx.cut, ctx.inverse, strict=True)):
            tile_weight = weight[tile.start : tile.stop]
            if ctx.store is not None:
                block = _block(ctx.store, tile, len(rows), True)
            else:
                block = torch.mm(rows, tile_weight.T)
                _exponentials(block, tile, tile_inverse, ctx.peaks[number])
                block.mul_(tile_inverse)
            share = (upstream * (ctx.peaks[number] - log_total).exp()).to(rows.dtype)[:, None]
            towards.addcmul_(block @ tile_weight, share)
            if weight_gradient is not None:
                part = torch.mm(block.T, rows * share, out=weight_gradient[tile.start : tile.stop])
                along = torch.bmm(part[:, None], tile_weight[:, :, None])[:, :, 0]
                part.addcmul_(tile_weight, along.mul_(tile_inverse[:, None] ** 2), value=-1)
        if ctx.store is not None:
            _give_back(ctx.store)
            ctx.store = None  # a second backward of a retained graph computes its blocks again

        # the target's part, ∂c/∂x = (w − c·z)/‖x‖ and ∂c/∂W = (z − c·w)/‖W‖, which cancels near c=1: float64
        target_gradient = -upstream * torch.sigmoid(against)
        cosine_gradient = (target_gradient * slope)[:, None]
        towards = wide(towards)
        scale_gradient = (towards * unit).sum(1)
        cosine = cosine[:, None]
        across = torch.addcmul(target_unit, unit, cosine, value=-1).mul_(cosine_gradient)
        towards.addcmul_(unit, scale_gradient[:, None], value=-1).mul_(scale[:, None])
        embedding_gradient = towards.add_(across).mul_(inverse[:, None]).to(rows.dtype)
        if weight_gradient is not None:
            to_own = torch.addcmul(unit, target_unit, cosine, value=-1)
            to_own.mul_(cosine_gradient * own_inverse[:, None])
            weight_gradient.index_add_(0, labels, to_own.to(weight.dtype))
        return embedding_gradient, weight_gradient, scale_gradient, target_gradient, None, None, None


def _take_store(entries: int, like: Tensor) -> Tensor:
    store = _spare.pop((like.dtype, like.device), None)
    return store if store is not None and len(store) >= entries else like.new_empty(entries)


def _give_back(store: Tensor) -> None:
    _spare[store.dtype, store.device] = store


def _block(store: Tensor, tile: Tile, size: int, keep: bool) -> Tensor:
    """The tile's B×T part of the store; without `keep`, all tiles use the same part."""
    width = tile.stop - tile.start
    first = size * tile.start if keep else 0
    return store[first : first + size * width].view(size, width)


def _exponentials(block: Tensor, tile: Tile, tile_inverse: Tensor, peak: Tensor | None = None) -> Tensor:
    """Turns x·W into e^(ℓ − peak) in place, without the target's; returns the peak, each row's maximum."""
    tile.strike_out(block.mul_(tile_inverse))
    if peak is None:
        peak = block.amax(1).clamp_min_(LOWEST)
    block.sub_(peak[:, None]).exp_()
    return peak
