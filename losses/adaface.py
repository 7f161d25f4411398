"""AdaFace: a margin that depends on the embedding's length, which stands for the image's quality."""

import math

import torch
from torch import Tensor

from losses import Batch, TargetOnlyHead, number, radians, scale
from losses._angles import angle

EDGE = 1e-3  # the shifted angle stays this far inside [0, π]: below 0 its cosine would fall again
EQUAL = 1e-3  # lengths count as equal if they deviate by less than this share of their mean


class AdaFace(TargetOnlyHead):
    """ℓ_y = s·(cos(θ_y − m·ẑ) − (m + m·ẑ)), every other ℓ_j = s·cos θ_j, with ẑ = h·(‖x‖ − μ)/σ clipped to ±1 and
    θ_y − m·ẑ clipped to [.001, π − .001]. μ and σ are running means of each batch's mean and deviation of ‖x‖.

    Paper: Kim, Jain and Liu, AdaFace: quality adaptive margin for face recognition, 2022, arXiv:2204.00964.
    Good for: training sets with images too poor to recognise. Short embeddings get an angular margin, which gives the
    hardest samples less weight; long ones get a margin on the cosine. No gradient goes through ẑ. μ and σ are buffers
    and start from the first batch. A batch of one does not change σ. Until there is a σ, ẑ is 0.

    Released code: μ starts at 20 and σ at 100 instead of the first batch's values, ‖x‖ is clipped to [.001, 100], and
    the division is by σ + .001. With rate .01 it takes hundreds of steps until μ and σ describe the embeddings.
    """

    name = "adaface"
    neutral = ({"m": 0.0}, "normface")

    s: float = scale(64.0)
    m: float = radians(0.4, meaning="margin, in the angle and on the cosine")
    h: float = number(0.333, low=0.0, high=10.0, meaning="factor of the standardised length before it is clipped")
    rate: float = number(0.01, low=0.0, high=1.0, meaning="share of the new batch in μ and σ")
    search = {"m": (0.0, 0.6), "h": (0.1, 1.0, "log")}

    norm_mean: Tensor
    norm_deviation: Tensor

    def setup(self) -> None:
        self.register_buffer("norm_mean", torch.tensor(0.0))
        self.register_buffer("norm_deviation", torch.tensor(0.0))

    def update_state(self, batch: Batch) -> None:
        norms = batch.norms()
        self._blend(self.norm_mean, norms.mean())
        if len(norms) > 1:
            self._blend(self.norm_deviation, norms.std())

    def _blend(self, kept: Tensor, new: Tensor) -> None:
        kept.copy_(new if float(kept) == 0.0 else self.rate * new + (1.0 - self.rate) * kept)

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        mean, deviation = float(self.norm_mean), float(self.norm_deviation)
        spread = max(deviation, EQUAL * mean) if deviation != 0.0 else math.inf
        z = self.constant((self.h * (batch.norms() - mean) / spread).clamp(-1.0, 1.0))
        shifted = (angle(cosine) - self.m * z).clamp(EDGE, math.pi - EDGE)
        return shifted.cos() - (self.m + self.m * z)
