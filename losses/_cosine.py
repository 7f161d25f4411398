"""Losses over s·cos θ_j: those that only scale, and those that change the target's logit alone.

Both take the fused path by themselves, `head.fused = False` forces the plain one. A target-only loss writes
one method, from the target's cosine to what takes its place; autograd on that B-vector gives the slope.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from losses._angles import unit, wide
from losses._fused import fused_cross_entropy
from losses._head import Batch, Head, Neutral
from losses._hyper import choice


class CosineHead(Head):
    """ℓ_j = s·c_j for every class. `s` is the loss's hyper-parameter or buffer of that name."""

    fused: bool = True
    neutral: ClassVar[Neutral | None] = ({}, "normface")

    s: float | Tensor

    def scale(self, norms: Tensor) -> Tensor:
        """The factor of each sample's cosines (B); `norms` are the embeddings' lengths."""
        return torch.as_tensor(self.s, dtype=norms.dtype, device=norms.device).expand_as(norms)

    def target_value(self, cosine: Tensor, batch: Batch) -> Tensor:
        """What takes the place of the target's cosine in training; here nothing does."""
        return cosine

    def training_loss(self, batch: Batch) -> Tensor:
        return self._cross_entropy(batch, with_margin=True)

    def evaluation_loss(self, batch: Batch) -> Tensor:
        return self._cross_entropy(batch, with_margin=False)

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        norms = torch.linalg.vector_norm(embeddings, dim=1)
        return self.scale(norms)[:, None] * (unit(embeddings) @ unit(weight).T)

    def uses_fused_path(self) -> bool:
        return self.fused and self.label_smoothing == 0.0

    def _cross_entropy(self, batch: Batch, with_margin: bool) -> Tensor:
        if self.uses_fused_path():
            return self._fused(batch, with_margin)
        return self._plain(batch, with_margin)

    def _plain(self, batch: Batch, with_margin: bool) -> Tensor:
        cosines = unit(batch.embeddings) @ unit(batch.weight).T
        scale = self.scale(batch.norms).to(cosines.dtype)[:, None]
        logits = scale * cosines
        if with_margin:
            own = batch.labels[:, None]
            value = self.target_value(cosines.gather(1, own)[:, 0], batch)[:, None]
            logits = logits.scatter(1, own, scale * value.to(cosines.dtype))
        return F.cross_entropy(logits, batch.labels, label_smoothing=self.label_smoothing)

    def _fused(self, batch: Batch, with_margin: bool) -> Tensor:
        scale = self.scale(batch.norms)
        cosine, slope = batch.cosine, torch.ones_like(batch.cosine)
        if with_margin:
            cosine, slope = self._value_and_slope(batch)
        loss = fused_cross_entropy(
            batch.embeddings, batch.weight, batch.labels, scale, scale * cosine, (scale * slope).detach()
        )
        return loss.mean().to(batch.embeddings.dtype)

    def _value_and_slope(self, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            cosine = batch.cosine.detach().requires_grad_()
            value = self.target_value(cosine, batch)
            if value is cosine:
                return batch.cosine, torch.ones_like(batch.cosine)
            (slope,) = torch.autograd.grad(value.sum(), cosine, retain_graph=True, materialize_grads=True)
        return wide(value), slope


class TargetOnlyHead(CosineHead):
    """ℓ_y = s·target_cosine(c_y), every other ℓ_j = s·c_j."""

    neutral: ClassVar[Neutral | None] = None

    gradient: str = choice(
        "exact",
        ("exact", "detached"),
        meaning="exact: autograd through the margin; detached: the margin is an offset without gradient",
    )

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        """What takes the place of the target's cosine (B), element by element."""
        raise TypeError(f"{type(self).__name__} has no target_cosine")

    def target_value(self, cosine: Tensor, batch: Batch) -> Tensor:
        value = self.target_cosine(cosine, batch)
        return value if self.gradient == "exact" else cosine + (value - cosine).detach()
