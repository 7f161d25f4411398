"""MagFace: ArcFace whose margin grows with the embedding's length."""

import math

from torch import Tensor

from losses import Batch, TargetOnlyHead, choice, number, radians, scale
from losses._angles import cosine_beyond
from losses._errors import InputError


class MagFace(TargetOnlyHead):
    """ℓ_y = s·cos(θ_y + m(a)), every other ℓ_j = s·cos θ_j, and λ_g·(a/u_a² + 1/a) is added to the loss;
    a is ‖x‖ clipped to [l_a, u_a] and m(a) is linear from l_m at l_a to u_m at u_a.

    Paper: Meng et al., MagFace: a universal representation for face recognition and quality assessment, 2021,
    arXiv:2103.06627. Good for: embeddings whose length measures the image's quality. The paper's bounds of the length,
    10 and 110, are for 512 dimensions. Here they are multiplied by √(D/512), because embeddings of fewer dimensions are
    shorter and would never exceed the lower bound. This makes the added term √(512/D) times as large, 2.8 times for
    D=64: multiply `lambda_g` by √(D/512) for the paper's strength. The gradient goes through the length in the margin
    and in the added term.

    Released code: the margin is applied only where cos θ_y > 0, and the cosine stays as it is elsewhere. Random
    embeddings are there half of the time: its first loss is about 28, here about 43.
    """

    name = "magface"
    neutral = ({"l_m": 0.0, "u_m": 0.0, "lambda_g": 0.0}, "normface")

    s: float = scale(64.0)
    l_m: float = radians(0.45, meaning="margin of the shortest embeddings, radians")
    u_m: float = radians(0.8, meaning="margin of the longest embeddings, radians")
    l_a: float = number(10.0, low=0.0, above=True, high=1e4, meaning="lower bound of the length, for D=512")
    u_a: float = number(110.0, low=0.0, above=True, high=1e4, meaning="upper bound of the length, for D=512")
    lambda_g: float = number(35.0, low=0.0, high=1e6, meaning="weight of the term that makes embeddings longer")
    beyond: str = choice("linear", ("linear", "clamp", "none"), meaning="how the target continues where θ + m > π")
    search = {"l_m": (0.0, 0.45), "u_m": (0.45, 0.9)}

    def setup(self) -> None:
        if not self.l_a < self.u_a:
            raise InputError(f"magface: l_a={self.l_a} is not allowed; expected less than u_a={self.u_a}")
        self.shortest, self.longest = (bound * math.sqrt(self.dim / 512.0) for bound in (self.l_a, self.u_a))

    def length(self, batch: Batch) -> Tensor:
        return batch.norms().clamp(self.shortest, self.longest)

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        share = (self.length(batch) - self.shortest) / (self.longest - self.shortest)
        return cosine_beyond(cosine, self.l_m + (self.u_m - self.l_m) * share, self.beyond)

    def training_loss(self, batch: Batch) -> Tensor:
        a = self.length(batch)
        pull = self.lambda_g * (a / self.longest**2 + 1.0 / a).mean()
        return super().training_loss(batch) + pull.to(batch.embeddings.dtype)
