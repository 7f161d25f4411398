"""AdaCos: the scale adapted at every step."""

import math

import torch
from torch import Tensor

from losses import Batch, CosineHead
from losses._angles import angle
from losses.adacos_fixed import fixed_scale

SMALLEST_SCALE = 0.1  # with three classes the rule can fall below zero


class AdaCos(CosineHead):
    """ℓ_j = s_t·cos θ_j with s_t = ln B / cos(min(π/4, θ_med)), B = mean_i Σ_{k≠y} exp(s_{t−1}·cos θ_ik),
    θ_med the (lower) median over the batch of the angle to the own class, s_0 = √2·ln(C−1).

    Paper: Zhang et al., AdaCos: adaptively scaling cosine logits, 2019, arXiv:1905.00292.
    Good for: no hyper-parameter to tune, at least 3 classes. The scale falls as training goes well. It is a
    buffer, so a resumed run goes on with it; it changes in training only and is kept at .1 or above.
    """

    name = "adacos"
    min_classes = 3

    s: Tensor

    def setup(self) -> None:
        self.register_buffer("s", torch.tensor(fixed_scale(self.num_classes)))

    def update_state(self, batch: Batch) -> None:
        median = angle(batch.cosine).median().clamp_max(math.pi / 4)
        scale = batch.log_mean_exp_of_negatives(float(self.s)) / median.cos()
        self.s.copy_(scale.clamp_min(SMALLEST_SCALE))
