"""ElasticFace: ArcFace or CosFace with a random margin for every sample."""

import math

import torch
from torch import Tensor

from losses import Batch, TargetOnlyHead, choice, number, radians, scale
from losses._angles import cosine_beyond

DEFAULTS = {"arc": (0.5, 0.05), "arc+": (0.5, 0.0175), "cos": (0.35, 0.05), "cos+": (0.35, 0.02)}


class ElasticFace(TargetOnlyHead):
    """ℓ_y = s·cos(θ_y + m_i), or s·(cos θ_y − m_i) with "cos", every other ℓ_j = s·cos θ_j, with m_i ~ N(m, σ).
    There is one draw per sample and step. Variants with + assign a batch's draws by rank: the larger margin to the
    smaller cos θ_y.

    Paper: Boutros et al., ElasticFace: elastic margin loss for deep face recognition, 2022, arXiv:2109.09416.
    Good for: classes with different spreads, which one fixed margin fits badly. m and σ default to the paper's values
    for each variant: arc .5 and .05, arc+ .5 and .0175, cos .35 and .05, cos+ .35 and .02. Draws are clipped to
    [0, π/2].

    Released code: the variants with + use an argsort where a rank is needed, so that the larger margins do not go to
    the smaller cosines. Here they do.
    """

    name = "elasticface"
    margin_on = "angle"
    neutral = ({"m": 0.0, "sigma": 0.0}, "normface")

    s: float = scale(64.0)
    m: float = radians(None, meaning="mean margin; None: the variant's")
    sigma: float = number(None, low=0.0, high=1.0, meaning="σ, deviation of the margins; None: the variant's")
    variant: str = choice("arc", tuple(DEFAULTS), meaning="margin on the angle or the cosine; +: larger for harder")
    beyond: str = choice(
        "linear", ("linear", "clamp", "none"), meaning='how the target continues where θ + m > π, for "arc"'
    )
    search = {"m": (0.0, 0.6), "sigma": (0.0, 0.1)}

    def setup(self) -> None:
        m, sigma = DEFAULTS[self.variant]
        self.m, self.sigma = m if self.m is None else self.m, sigma if self.sigma is None else self.sigma

    def margins(self, batch: Batch) -> Tensor:
        drawn = (self.m + self.sigma * self.standard_normal(batch)).clamp(0.0, math.pi / 2)
        if "+" not in self.variant:
            return drawn
        easiest_first = batch.cosine.argsort(descending=True, stable=True)
        return torch.empty_like(drawn).scatter_(0, easiest_first, drawn.sort().values)

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        margins = self.margins(batch)
        return cosine_beyond(cosine, margins, self.beyond) if "arc" in self.variant else cosine - margins
