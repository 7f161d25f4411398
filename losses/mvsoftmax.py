"""MV-Softmax: a margin for the target, more weight for the classes that a sample is mistaken for."""

import math

import torch
from torch import Tensor

from losses import Batch, MarginHead, choice, number, scale
from losses._angles import cosine_beyond


class MVSoftmax(MarginHead):
    """ℓ_y = s·(cos θ_y − m), or s·cos(θ_y + m) with variant="arc". Another class is hard if its cos θ_j is above the
    target's with margin; then ℓ_j = s·(t·cos θ_j + t − 1). Every other ℓ_j = s·cos θ_j.

    Paper: Wang et al., Mis-classified vector guided softmax loss for face recognition, 2020, arXiv:1912.00833 (its
    adaptive form; m .5 for "arc"). Good for: more weight for hard negatives from the first step on, by a fixed t.

    Released code: the authors' t = .2 is t = 1.2 here; the default 1.12 is FaceX-Zoo's. The authors' code for the angle
    adds the margin only where cos θ_y > 0, FaceX-Zoo's only where cos θ_y > m.
    """

    name = "mvsoftmax"
    margin_on = "cosine"
    neutral = ({"m": 0.0, "t": 1.0}, "normface")

    s: float = scale(32.0)
    m: float = number(0.35, low=0.0, high=math.pi / 2, meaning="margin of the target")
    t: float = number(1.12, low=1.0, high=2.0, meaning="factor for hard classes; 1: they count like others")
    variant: str = choice("cos", ("cos", "arc"), meaning="subtract the margin from the cosine, or add it to the angle")
    beyond: str = choice(
        "linear", ("linear", "clamp", "none"), meaning='how the target continues where θ + m > π, for "arc"'
    )
    search = {"m": (0.0, 0.5), "t": (1.0, 1.3)}

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m if self.variant == "cos" else cosine_beyond(cosine, self.m, self.beyond)

    def negative_cosines(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        return torch.where(cosines > target[:, None], self.t * cosines + (self.t - 1.0), cosines)
