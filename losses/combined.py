"""The combined margin: multiplicative, additive angular and additive cosine at once."""

from torch import Tensor

from losses import Batch, TargetOnlyHead, choice, number, radians, scale
from losses._angles import cosine_beyond


class Combined(TargetOnlyHead):
    """ℓ_y = s·(cos(m1·θ_y + m2) − m3), every other ℓ_j = s·cos θ_j.

    Paper: Deng et al., ArcFace, 2019, arXiv:1801.07698, where CM1 is (1, .3, .2), the default here, and CM2 is
    (.9, .4, .15). Good for: comparing the three margins within one formula; (1, m, 0) is `arcface` and (1, 0, m) is
    `cosface` with the same `beyond`.
    """

    name = "combined"
    neutral = ({"m1": 1.0, "m2": 0.0, "m3": 0.0}, "normface")

    s: float = scale(64.0)
    m1: float = number(1.0, low=0.0, above=True, high=4.0, meaning="factor of the target's angle")
    m2: float = radians(0.3, meaning="margin added to the target's angle, radians")
    m3: float = number(0.2, low=0.0, high=2.0, meaning="margin subtracted from the target's cosine")
    beyond: str = choice("clamp", ("clamp", "linear", "none"), meaning="how the target continues where m1·θ + m2 > π")
    search = {"m2": (0.0, 0.6), "m3": (0.0, 0.5)}

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine_beyond(cosine, self.m2, self.beyond, factor=self.m1) - self.m3
