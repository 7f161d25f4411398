"""UniFace: one trainable threshold for all classes."""

import math

import torch
from torch import Tensor, nn

from losses import BinaryHead, number, scale


class UniFace(BinaryHead):
    """L = softplus(−(s·(cos θ_y − m) − b)) + l·Σ_{j≠y} softplus(s·cos θ_j − b), b trainable from ln(10·C).

    Paper: Zhou et al., UniFace: unified cross-entropy loss for deep face recognition, 2023 (ICCV).
    Good for: verification by one threshold: the loss pushes every cosine to the own class above b/s and every other one
    below it. s="auto" uses the rule of the softmax losses. It has no posterior over the classes and no label smoothing.

    Released code: scores are clipped to ±s, so that an embedding far from its class gets no gradient. Here
    they are not.
    """

    name = "uniface"

    s: float = scale(64.0)
    m: float = number(0.4, low=0.0, high=2.0, meaning="margin subtracted from the own class's cosine")
    lambda_others: float = number(1.0, low=0.0, above=True, high=1e4, meaning="l, weight of the other classes")
    search = {"m": (0.0, 0.6), "lambda_others": (0.1, 10.0, "log")}

    def setup(self) -> None:
        self.own_weight, self.other_weight = 1.0, self.lambda_others
        self.bias = nn.Parameter(torch.tensor(math.log(10.0 * self.num_classes)))

    def binary_scores(self, cosines: Tensor, side: Tensor | float) -> Tensor:
        margin = self.m * torch.as_tensor(side).clamp_min(0.0)
        return self.s * (cosines - margin) - self.bias.to(cosines.dtype)
