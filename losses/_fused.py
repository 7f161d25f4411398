"""Cross-entropy over s·cos θ with another target logit, without B×C intermediates beyond one block.

Forward takes the classes tile by tile and keeps a running maximum and sum for each row; the target's entry is
struck out before the exponential and added apart, because subtracting it afterwards cancels once training has
worked. Backward makes both gradients of a tile in one pass, from the exponentials that forward kept while they
fit into `KEEP_BYTES`, from new ones otherwise. What has the batch's length, the target's part of the gradients
included, is in float64: at s=256 an error of 1e-7 in a target's cosine would be seen.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from losses._angles import inverse_norms, wide
from losses._tiles import Tile, tiles

KEEP_BYTES = 128 * 2**20


def fused_cross_entropy(
    embeddings: Tensor,
    weight: Tensor,
    labels: Tensor,
    scale: Tensor,
    target: Tensor,
    slope: Tensor,
    keep_bytes: int | None = None,
    tile_width: int | None = None,
) -> Tensor:
    """−ln of the target's posterior, for each sample (B).

    scale   B factors of the cosines; gradients flow to them
    target  B target logits; gradients flow to them, though not through the target's cosine, whose part is
    slope   d target / d cosine
    """
    return _FusedCrossEntropy.apply(  # type: ignore[no-any-return, no-untyped-call]
        embeddings, weight, labels, scale, target, slope,
        KEEP_BYTES if keep_bytes is None else keep_bytes, tile_width, torch.is_grad_enabled(),
    )  # fmt: skip


class _FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        embeddings: Tensor,
        weight: Tensor,
        labels: Tensor,
        scale: Tensor,
        target: Tensor,
        slope: Tensor,
        keep_bytes: int,
        tile_width: int | None,
        with_gradient: bool,
    ) -> Tensor:
        size, classes = len(embeddings), len(weight)
        cut = tiles(labels, classes, tile_width)
        keep = with_gradient and size * classes * weight.element_size() <= keep_bytes
        store = weight.new_empty(size * (classes if keep else cut[0].stop))
        rows = (_unit(embeddings) * scale[:, None]).to(weight.dtype)
        peak, total = target.to(weight.dtype), torch.zeros_like(target)
        peaks, inverse = [], []
        for tile in cut:
            tile_weight = weight[tile.start : tile.stop]
            inverse.append(inverse_norms(tile_weight))
            block = _block(store, tile, size, keep)
            torch.mm(rows, (tile_weight * inverse[-1]).T, out=block)
            tile.strike_out(block)
            lower, peak = peak, torch.maximum(peak, block.amax(1))
            block.sub_(peak[:, None]).exp_()
            total = total * (lower - peak).exp() + block.sum(1)
            peaks.append(peak)
        against = total.log() + peak - target  # ln of Σ_{j≠y} e^{ℓ_j − ℓ_y}
        ctx.cut, ctx.keep = cut, keep
        ctx.save_for_backward(
            embeddings, weight, labels, scale, target, slope, against, torch.cat(inverse),
            *([store, *peaks] if keep else [rows]),
        )  # fmt: skip
        return F.softplus(against)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        embeddings, weight, labels, scale, target, slope, against, inverse, *kept = ctx.saved_tensors
        unit, length = _unit(embeddings), inverse_norms(wide(embeddings))
        log_total = F.softplus(against) + target
        towards = torch.zeros_like(embeddings)  # Σ_{j≠y} p_j·w_j, times the upstream gradient
        weight_gradient = torch.empty_like(weight) if ctx.needs_input_grad[1] else None
        for number, tile in enumerate(ctx.cut):
            tile_inverse = inverse[tile.start : tile.stop]
            unit_classes = weight[tile.start : tile.stop] * tile_inverse
            if ctx.keep:
                block = _block(kept[0], tile, len(embeddings), True)
                share = upstream * (kept[1 + number] - log_total).exp()
            else:
                block = _posteriors(kept[0], unit_classes, log_total, tile)
                share = upstream
            towards.addcmul_(block @ unit_classes, share.to(weight.dtype)[:, None])
            if weight_gradient is not None:
                rows = (unit * (scale * share)[:, None]).to(weight.dtype)
                part = torch.mm(block.T, rows, out=weight_gradient[tile.start : tile.stop])
                along = (part * unit_classes).sum(1, keepdim=True)
                part.addcmul_(unit_classes, along, value=-1).mul_(tile_inverse)

        # the target's own part, and the way from directions to raw vectors
        target_gradient = -upstream * torch.sigmoid(against)
        cosine_gradient = (target_gradient * slope)[:, None]
        target_rows = wide(weight[labels])
        target_inverse = inverse_norms(target_rows)
        target_unit = target_rows * target_inverse
        cosine = (unit * target_unit).sum(1, keepdim=True).clamp(-1.0, 1.0)
        towards = wide(towards)
        scale_gradient = (towards * unit).sum(1)
        embedding_gradient = (
            scale[:, None] * (towards - scale_gradient[:, None] * unit)
            + cosine_gradient * (target_unit - cosine * unit)
        ) * length
        if weight_gradient is not None:
            own = cosine_gradient * (unit - cosine * target_unit) * target_inverse
            weight_gradient.index_add_(0, labels, own.to(weight.dtype))
        return (
            embedding_gradient.to(embeddings.dtype), weight_gradient, None,
            scale_gradient, target_gradient, None, None, None, None,
        )  # fmt: skip


def _unit(embeddings: Tensor) -> Tensor:
    rows = wide(embeddings)
    return rows * inverse_norms(rows)


def _block(store: Tensor, tile: Tile, size: int, keep: bool) -> Tensor:
    """The tile's B×T part of the store; without keeping, all tiles take turns in the same place."""
    width = tile.stop - tile.start
    first = size * tile.start if keep else 0
    return store[first : first + size * width].view(size, width)


def _posteriors(rows: Tensor, unit_classes: Tensor, log_total: Tensor, tile: Tile) -> Tensor:
    block = rows @ unit_classes.T
    tile.strike_out(block)
    return block.sub_(log_total.to(block.dtype)[:, None]).exp_()
