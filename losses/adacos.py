"""AdaCos: the scale adapted at every step."""

import math

import torch
from torch import Tensor

from losses import Batch, CosineHead
from losses._angles import angle
from losses.adacos_fixed import fixed_scale

SMALLEST_SCALE = 0.1  # for three classes the rule can give a negative scale


class AdaCos(CosineHead):
    """ℓ_j = s_t·cos θ_j with s_t = ln B / cos(min(π/4, θ_med)), B = mean_i Σ_{k≠y} exp(s_{t−1}·cos θ_ik),
    θ_med the (lower) median over the batch of the angle to the own class, s_0 = √2·ln(C−1).

    Paper: Zhang et al., AdaCos: adaptively scaling cosine logits, 2019, arXiv:1905.00292.
    Good for: at least 3 classes and no hyper-parameter to tune. The scale falls while training makes progress. It is a
    buffer, so a resumed run continues with it. It changes in training only and is never below .1.

    Released code: a common copy takes the median over the angles to all classes. That is about 90°, so its scale is
    always √2·ln B.
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
