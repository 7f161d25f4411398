"""P2SGrad: squared distances of the cosines from 1 and 0, without scale and margin."""

import torch
from torch import Tensor

from losses import Batch, Head
from losses._angles import cosines


class P2SGrad(Head):
    """L = ½·Σ_j (cos θ_j − 1[j=y])², mean over the batch.

    Paper: Zhang et al., P2SGrad: refined gradients for optimizing deep face models, 2019, arXiv:1905.02479.
    Good for: few classes and nothing to tune. The gradient of a cosine is its distance from its target; with softmax it
    is a posterior that depends on a scale. Embeddings at their own class's weight have L ≥ ½·(C/D − 1) on average for
    any arrangement, and embeddings whose cosines are all 0 have L = ½: for C > 2D the loss prefers to learn nothing.
    It gives scores, which are cosines, but no posterior and no label smoothing.
    """

    name = "p2sgrad"
    is_cross_entropy = False

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        return cosines(embeddings, weight)

    def evaluation_loss(self, batch: Batch) -> Tensor:
        found = cosines(batch.embeddings, batch.weight)
        wanted = torch.zeros_like(found).scatter_(1, batch.labels[:, None], 1.0)
        return 0.5 * (found - wanted).square().sum(1).mean()
