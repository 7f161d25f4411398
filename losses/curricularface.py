"""CurricularFace: ArcFace that gives hard negatives more weight as training proceeds."""

import torch
from torch import Tensor

from losses import Batch, MarginHead, choice, number, radians, scale
from losses._angles import cosine_beyond


class CurricularFace(MarginHead):
    """ℓ_y = s·cos(θ_y + m); another class with cos θ_j above cos(θ_y + m) is hard: ℓ_j = s·cos θ_j·(t + cos θ_j);
    every other ℓ_j = s·cos θ_j. t is a running mean of cos θ_y: t ← r·mean_i(cos θ_y) + (1−r)·t, from 0.

    Paper: Huang et al., CurricularFace: adaptive curriculum learning loss, 2020, arXiv:2004.00288.
    Good for: easy samples first and hard ones later, without a schedule. While t is small a hard class has a smaller
    logit than s·cos θ_j, later a larger one. Where θ_y + m > π, a class is hard if it is above the target that `beyond`
    gives. t changes in training only and is a buffer.
    """

    name = "curricularface"
    margin_on = "angle"

    s: float = scale(64.0)
    m: float = radians(0.5, meaning="margin added to the target's angle, radians")
    rate: float = number(0.01, low=0.0, high=1.0, meaning="r, the share of the new batch in t")
    beyond: str = choice("linear", ("linear", "clamp", "none"), meaning="how the target continues where θ + m > π")
    search = {"m": (0.0, 0.6)}

    t: Tensor

    def setup(self) -> None:
        self.register_buffer("t", torch.tensor(0.0))

    def update_state(self, batch: Batch) -> None:
        self.t.copy_(self.rate * batch.cosine.mean() + (1.0 - self.rate) * self.t)

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine_beyond(cosine, self.m, self.beyond)

    def negative_cosines(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        return torch.where(cosines > target[:, None], cosines * (float(self.t) + cosines), cosines)
