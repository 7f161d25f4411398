"""Circle loss at class level: each cosine is weighted by its distance from its optimum."""

import torch
from torch import Tensor

from losses import Batch, CosineHead, number, scale


class Circle(CosineHead):
    """ℓ_y = s·[1 + m − cos θ_y]₊·(cos θ_y − 1 + m), every other ℓ_j = s·[cos θ_j + m]₊·(cos θ_j − m).
    No gradient goes through the weights in brackets. s is the paper's γ.

    Paper: Sun et al., Circle loss: a unified perspective of pair similarity optimization, 2020, arXiv:2002.10857 (its
    form with class labels). Good for: more gradient for the cosines that are farthest from their optimum. m sets both
    how near the own class should come and how far the others should stay. Near the boundary the weights are about 2m,
    so s acts like a scale of 2m·s in other losses. Evaluation scores by s·cos θ_j.
    """

    name = "circle"
    fusable = False
    scale_on = ""
    neutral = None

    s: float = scale(256.0)
    m: float = number(0.25, low=0.0, high=1.0, meaning="allowed distance of the cosines from 1 and 0")
    search = {"s": (16.0, 512.0, "log"), "m": (0.05, 0.5)}

    def target_value(self, cosine: Tensor, batch: Batch) -> Tensor:
        return self.constant(torch.relu(1.0 + self.m - cosine)) * (cosine - 1.0 + self.m)

    def negative_values(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        return self.constant(torch.relu(cosines + self.m)) * (cosines - self.m)
