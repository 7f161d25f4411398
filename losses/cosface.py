"""CosFace: an additive margin on the cosine."""

from torch import Tensor

from losses import Batch, TargetOnlyHead, number, scale


class CosFace(TargetOnlyHead):
    """ℓ_y = s·(cos θ_y − m), every other ℓ_j = s·cos θ_j.

    Paper: Wang et al., CosFace: large margin cosine loss for deep face recognition, 2018, arXiv:1801.09414.
    Good for: a margin that is easy to train, because the target's slope is the same as without margin. For a posterior
    P at the class centres, s must be at least (C−1)/C · ln((C−1)P/(1−P)).
    """

    name = "cosface"
    margin_on = "cosine"
    neutral = ({"m": 0.0}, "normface")

    s: float = scale(64.0)
    m: float = number(0.35, low=0.0, high=2.0, meaning="margin subtracted from the target's cosine")
    search = {"m": (0.0, 0.5)}

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m
