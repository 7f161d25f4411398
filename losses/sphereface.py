"""SphereFace (A-Softmax): a multiplicative margin on the angle, annealed."""

import math

import torch
from torch import Tensor

from losses import Batch, TargetOnlyHead, integer, number
from losses._angles import row_norms, wide

SHARE_OF_RUN = 0.06  # the reference reached λ_min at step 1,658 of 28,000


class SphereFace(TargetOnlyHead):
    """ℓ_y = ‖x‖·(λ·cos θ_y + ψ(θ_y))/(1+λ), every other ℓ_j = ‖x‖·cos θ_j,
    with ψ(θ) = (−1)^k·cos(mθ) − 2k on [kπ/m, (k+1)π/m] and λ = max(λ_min, λ_0·(1+γt)^−p) at step t.

    Paper: Liu et al., SphereFace: deep hypersphere embedding for face recognition, 2017, arXiv:1704.08063.
    Good for: an angular margin without a scale; it was the first. m=1 is "modified softmax". Given `total_steps`, the
    schedule is stretched so that λ reaches λ_min after 6 % of the run, as in the reference; without it a short run
    stays close to modified softmax. λ never reaches λ_min=0, so there the schedule is not stretched. cos(mθ) is
    Chebyshev's polynomial of cos θ, which needs no acos.

    Released code: the Caffe layer counts steps from 1, so that λ starts at 892.9, and it normalises its backward pass,
    which changes the gradient by 37 to 40 % at λ=5.
    """

    name = "sphereface"
    neutral = ({"m": 1}, "softmax")  # for unit weights, as at the start

    m: int = integer(4, low=1, high=8, meaning="factor of the target's angle")
    lambda_0: float = number(1000.0, low=0.0, high=1e6, meaning="weight of cos θ at the start")
    lambda_min: float = number(5.0, low=0.0, high=1e6, meaning="weight of cos θ at the end")
    gamma: float = number(0.12, low=0.0, high=1e3, meaning="speed of the annealing, per step")
    power: float = number(1.0, low=0.0, high=10.0, meaning="exponent of the annealing")
    search = {"m": (1, 4), "lambda_min": (1.0, 50.0, "log")}

    step: Tensor
    annealing: Tensor

    def setup(self) -> None:
        self.register_buffer("step", torch.tensor(0))
        self.register_buffer("annealing", torch.tensor(self.lambda_at(0)))

    def lambda_at(self, step: int) -> float:
        """λ at a step, counted from 0."""
        time = step * self._stretch()
        return max(self.lambda_min, self.lambda_0 * math.pow(1.0 + self.gamma * time, -self.power))

    def _stretch(self) -> float:
        falls = self.gamma * self.power > 0.0 and self.lambda_0 > self.lambda_min > 0.0
        if self.total_steps is None or not falls:
            return 1.0
        reached_at = (math.pow(self.lambda_0 / self.lambda_min, 1.0 / self.power) - 1.0) / self.gamma
        return reached_at / (SHARE_OF_RUN * self.total_steps)

    def update_state(self, batch: Batch) -> None:
        self.annealing.fill_(self.lambda_at(int(self.step)))
        self.step += 1

    def scale(self, embeddings: Tensor) -> Tensor:
        return row_norms(wide(embeddings))

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        weight = float(self.annealing)
        return (weight * cosine + psi(cosine, self.m)) / (1.0 + weight)


def psi(cosine: Tensor, m: int) -> Tensor:
    """(−1)^k·cos(mθ) − 2k, which falls from 1 at θ=0 to 1−2m at θ=π."""
    before, multiple = torch.ones_like(cosine), cosine
    for _ in range(m - 1):
        before, multiple = multiple, 2.0 * cosine * multiple - before
    k = sum((cosine <= math.cos(i * math.pi / m)).to(cosine.dtype) for i in range(1, m))
    sign = 1.0 - 2.0 * (k % 2) if m > 1 else 1.0
    return sign * multiple - 2.0 * k
