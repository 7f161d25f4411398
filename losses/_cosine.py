"""Losses over s·cos θ_j: those that only scale, those that change only the target's logit, and those that change the
other logits too.

The first two kinds use the fused path where it is faster; `head.fused` forces either path. A target-only loss writes
one method, from the target's cosine to its replacement. Autograd on that B-vector gives the slope.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from losses._angles import unit, wide
from losses._fused import fused_cross_entropy
from losses._head import Batch, Head, Neutral
from losses._hyper import choice

SMALL = 2**17  # B×C numbers up to which the plain path is faster


class CosineHead(Head):
    """ℓ_j = s·c_j for every class. `s` is the loss's hyper-parameter or buffer of that name."""

    fused: bool | None = None
    """Whether to use the fused path: always, never, or (None) where it is faster."""
    fusable: bool = True
    """Whether the loss has a fused path, which it has if only the target's logit differs from s·c_j."""
    neutral: ClassVar[Neutral | None] = ({}, "normface")
    scale_on = "cosine"

    s: float | Tensor

    def scale(self, embeddings: Tensor) -> float | Tensor:
        """The factor of the cosines: one for all samples, or one per sample (B)."""
        return self.s

    def target_value(self, cosine: Tensor, batch: Batch) -> Tensor:
        """What replaces the target's cosine in training; here nothing does."""
        return cosine

    def negative_values(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        """What replaces the other classes' cosines (B×C) in training; here nothing does. `target` (B) is what replaced
        the target's cosine; the targets' entries of the result are ignored."""
        return cosines

    def needs_slope(self) -> bool:
        """Whether the slope of `target_value` may differ from 1."""
        return False

    def cosines(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """c_j (B×C) and, more precisely, c_y (B), with gradient, for the plain path."""
        rows, classes = unit(batch.embeddings), unit(batch.weight)
        cosines = wide(rows @ classes.T)
        own = (rows * classes.index_select(0, batch.labels)).sum(1, dtype=cosines.dtype)
        return cosines, own.clamp(-1.0, 1.0)

    def training_loss(self, batch: Batch) -> Tensor:
        return self._cross_entropy(batch, with_margin=True)

    def evaluation_loss(self, batch: Batch) -> Tensor:
        return self._cross_entropy(batch, with_margin=False)

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        return self._scale(embeddings, embeddings.dtype)[:, None] * (unit(embeddings) @ unit(weight).T)

    def _scale(self, embeddings: Tensor, dtype: torch.dtype) -> Tensor:
        factor = self.scale(embeddings)
        if isinstance(factor, Tensor):
            return factor.to(dtype, copy=True).expand(len(embeddings))  # an adapted buffer may change before backward
        return embeddings.new_full((len(embeddings),), factor, dtype=dtype)

    def uses_fused_path(self, batch_size: int) -> bool:
        if not self.fusable or self.label_smoothing or self.fused is False:
            return False
        return self.fused is True or batch_size * self.num_classes > SMALL

    def _cross_entropy(self, batch: Batch, with_margin: bool) -> Tensor:
        if self.uses_fused_path(len(batch.labels)):
            return self._fused(batch, with_margin)
        return self._plain(batch, with_margin)

    def _plain(self, batch: Batch, with_margin: bool) -> Tensor:
        cosines, cosine = self.cosines(batch)
        if with_margin:
            cosine = self.target_value(cosine, batch)
            cosines = self.negative_values(cosines, cosine, batch)
        scale = self._scale(batch.embeddings, cosines.dtype)[:, None]
        logits = scale * cosines.scatter(1, batch.labels[:, None], cosine[:, None])
        loss = F.cross_entropy(logits, batch.labels, label_smoothing=self.label_smoothing)
        return loss.to(batch.embeddings.dtype)

    def _fused(self, batch: Batch, with_margin: bool) -> Tensor:
        scale = self._scale(batch.embeddings, batch.cosine.dtype)
        cosine, slope = batch.cosine, torch.ones_like(batch.cosine)
        if with_margin:
            cosine, slope = self._value_and_slope(batch)
        loss = fused_cross_entropy(batch, scale, scale * cosine, (scale * slope).detach())
        return loss.mean().to(batch.embeddings.dtype)

    def _value_and_slope(self, batch: Batch) -> tuple[Tensor, Tensor]:
        if not self.needs_slope():
            return self.target_value(batch.cosine, batch), torch.ones_like(batch.cosine)
        with torch.enable_grad():
            cosine = batch.cosine.detach().requires_grad_()
            value = self.target_value(cosine, batch)
            (slope,) = torch.autograd.grad(
                value, cosine, torch.ones_like(value), retain_graph=True, materialize_grads=True
            )
        return value, slope


class MarginHead(CosineHead):
    """ℓ_y = s·target_cosine(c_y), every other ℓ_j = s·negative_cosines(c_j)."""

    fusable = False
    neutral: ClassVar[Neutral | None] = None

    gradient: str = choice(
        "exact",
        ("exact", "detached"),
        meaning="exact: autograd through the margin; detached: the margin is an offset without gradient",
    )

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        """What replaces the target's cosine (B), element by element."""
        raise TypeError(f"{type(self).__name__} has no target_cosine")

    def negative_cosines(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        """What replaces the other classes' cosines (B×C), given what replaced the target's (B)."""
        return cosines

    def target_value(self, cosine: Tensor, batch: Batch) -> Tensor:
        value = self.target_cosine(cosine, batch)
        return value if self.gradient == "exact" else cosine + self.constant(value - cosine)

    def negative_values(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        values = self.negative_cosines(cosines, target, batch)
        return values if self.gradient == "exact" else cosines + self.constant(values - cosines)

    def needs_slope(self) -> bool:
        return self.gradient == "exact"


class TargetOnlyHead(MarginHead):
    """ℓ_y = s·target_cosine(c_y), every other ℓ_j = s·c_j. It has the fused path."""

    fusable = True
