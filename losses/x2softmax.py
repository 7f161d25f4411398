"""X2-Softmax: a parabola of the angle replaces the target's cosine."""

import math

from torch import Tensor

from losses import Batch, TargetOnlyHead, choice, number, radians, scale
from losses._angles import angle


class X2Softmax(TargetOnlyHead):
    """ℓ_y = s·(a·(θ_y − h)² + k), every other ℓ_j = s·cos θ_j.

    Paper: Xu et al., X2-Softmax: margin adaptive loss function for face recognition, 2023, arXiv:2312.05281.
    Good for: a margin that grows with the angle between two classes beyond 90°: with the defaults it is 36° at 90°, 42°
    at 140° and 53° at 180°. With a < 0 and h ≤ 0 the target falls for every θ.

    Released code: it computes gradient="detached", the default here.
    """

    name = "x2softmax"

    s: float = scale(64.0)
    a: float = number(-0.9, low=-10.0, high=-0.01, meaning="curvature of the parabola")
    h: float = radians(0.0, low=-math.pi, high=0.0, meaning="angle of its vertex, radians")
    k: float = number(0.65, low=-2.0, high=2.0, meaning="height of its vertex")
    gradient: str = choice("detached", ("exact", "detached"), meaning="as for every target-only loss")
    search = {"a": (-1.5, -0.3), "k": (0.3, 1.0)}

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return self.a * (angle(cosine) - self.h).square() + self.k
