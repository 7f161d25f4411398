"""ArcFace: an additive margin on the angle."""

from torch import Tensor

from losses import Batch, TargetOnlyHead, choice, radians, scale
from losses._angles import cosine_beyond


class ArcFace(TargetOnlyHead):
    """ℓ_y = s·cos(θ_y + m), every other ℓ_j = s·cos θ_j.

    Paper: Deng et al., ArcFace: additive angular margin loss for deep face recognition, 2019, arXiv:1801.07698.
    Good for: verification with many classes. The defaults were chosen on millions of images: with few classes or
    epochs, a smaller s and m train better.

    Released code: current insightface computes gradient="detached". Copies of ArcFace differ beyond θ_y + m = π; the
    first code is beyond="linear".
    """

    name = "arcface"
    margin_on = "angle"
    neutral = ({"m": 0.0}, "normface")

    s: float = scale(64.0)
    m: float = radians(0.5, meaning="margin added to the target's angle, radians")
    beyond: str = choice("linear", ("linear", "clamp", "none"), meaning="how the target continues where θ + m > π")
    search = {"m": (0.0, 0.6)}

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine_beyond(cosine, self.m, self.beyond)
