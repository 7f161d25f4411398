"""Losses that classify for each class whether it is the sample's own: a logistic loss per score, no softmax."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from losses._angles import cosines
from losses._head import Batch, Head


class BinaryHead(Head):
    """L = own_weight·softplus(−ℓ_y) + other_weight·Σ_{j≠y} softplus(ℓ_j), mean over the batch. `setup` sets both
    weights and the trainable `bias`; `binary_scores` turns cosines into ℓ."""

    is_cross_entropy = False

    own_weight: float
    other_weight: float
    bias: nn.Parameter

    def binary_scores(self, cosines: Tensor, side: Tensor | float) -> Tensor:
        """ℓ (B×C) from cosines. `side` is 1 for the own class and −1 for the others, or 0 without margin."""
        raise TypeError(f"{type(self).__name__} has no binary_scores")

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        return self.binary_scores(cosines(embeddings, weight), 0.0)

    def training_loss(self, batch: Batch) -> Tensor:
        return self._logistic(batch, with_margin=True)

    def evaluation_loss(self, batch: Batch) -> Tensor:
        return self._logistic(batch, with_margin=False)

    def _logistic(self, batch: Batch, with_margin: bool) -> Tensor:
        found = cosines(batch.embeddings, batch.weight)
        own = batch.labels[:, None]
        side = torch.full_like(found, -1.0).scatter_(1, own, 1.0)
        weights = torch.full_like(found, self.other_weight).scatter_(1, own, self.own_weight)
        scores = self.binary_scores(found, side if with_margin else 0.0)
        return -(weights * F.logsigmoid(side * scores)).sum(1).mean()
