"""Plain softmax, the baseline without angles."""

import torch
from torch import Tensor, nn

from losses import Head


class Softmax(Head):
    """ℓ_j = W_j·x + b_j: nothing is normalised, no margin, no scale.

    Source: the ordinary linear classifier, the first line of every table. Good for: closed-set accuracy. Its embeddings
    spread inside a class, because length can replace angle. Angles are measured after normalising W and x.
    """

    name = "softmax"
    normalises = False

    bias: nn.Parameter

    def setup(self) -> None:
        self.bias = nn.Parameter(torch.zeros(self.num_classes))

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        return embeddings @ weight.T + self.bias.to(embeddings.dtype)
