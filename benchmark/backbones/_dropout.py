"""Dropout whose random numbers come from the net's seed and the step, so that runs are paired and can be resumed."""

import torch
from torch import Tensor, nn


class SeededDropout(nn.Module):
    """Like nn.Dropout, but every loss trained with the same seed drops the same features at the same step."""

    seed: Tensor
    step: Tensor

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.register_buffer("seed", torch.randint(2**62, ()))
        self.register_buffer("step", torch.tensor(0))

    def forward(self, features: Tensor) -> Tensor:
        if not self.training:
            return features
        generator = torch.Generator().manual_seed(int(self.seed) ^ int(self.step))
        kept = torch.rand(features.shape, generator=generator) >= self.share
        self.step += 1
        return features * kept.to(features.device) / (1.0 - self.share)
