"""SphereFace2: a binary classification for every class instead of a softmax over all."""

import math

import torch
from torch import Tensor, nn

from losses import BinaryHead, choice, number


class SphereFace2(BinaryHead):
    """L = f·(λ/r)·softplus(−(r·(g(cos θ_y) − m) + b)) + f·((1−λ)/r)·Σ_{j≠y} softplus(r·(g(cos θ_j) + m) + b), with
    g(c) = 2·((c+1)/2)^t − 1 and a trainable b that starts where the loss is least if all cosines are 0.

    Paper: Wen et al., SphereFace2: binary classification is all you need for deep face recognition, 2022,
    arXiv:2108.01513. Good for: noisy labels, and training without normalising over the classes. It has no posterior
    over the classes and no label smoothing. `gradient` is "detached" by default.

    Released code: it computes gradient="detached" and multiplies the loss by f=50, which is the default here too.
    """

    name = "sphereface2"

    lambda_own: float = number(0.7, low=0.0, above=True, high=0.999, meaning="λ, the own class's share of the loss")
    r: float = number(40.0, low=0.0, above=True, high=1e4, meaning="scale of the scores")
    m: float = number(0.4, low=0.0, high=2.0, meaning="margin, subtracted from the own class and added to the others")
    t: float = number(3.0, low=1.0, high=20.0, meaning="exponent by which g spreads large cosines")
    factor: float = number(50.0, low=0.0, above=True, high=1e4, meaning="f, of the whole loss, as in its reference")
    gradient: str = choice("detached", ("exact", "detached"), meaning="exact: through g; detached: as if g(c) were c")
    search = {"lambda_own": (0.3, 0.9), "r": (10.0, 80.0, "log"), "m": (0.0, 0.6)}

    def setup(self) -> None:
        self.own_weight = self.factor * self.lambda_own / self.r
        self.other_weight = self.factor * (1.0 - self.lambda_own) / self.r
        self.bias = nn.Parameter(torch.tensor(self.first_bias()))

    def first_bias(self) -> float:
        """ln 2z − a_n − ln(1−z+√((1−z)² + 4z·e^(a_p−a_n))), without a difference of nearly equal numbers for z > 1."""
        z = self.lambda_own / ((1.0 - self.lambda_own) * (self.num_classes - 1))
        own, other = (self.r * (2.0 * math.pow(0.5, self.t) - 1.0 + sign * self.m) for sign in (-1.0, 1.0))
        root = math.hypot(1.0 - z, 2.0 * math.sqrt(z) * math.exp((own - other) / 2.0))
        if z > 1.0:
            return math.log((z - 1.0 + root) / 2.0) - own
        return math.log(2.0 * z / (1.0 - z + root)) - other

    def binary_scores(self, cosines: Tensor, side: Tensor | float) -> Tensor:
        bent = 2.0 * ((cosines + 1.0) / 2.0) ** self.t - 1.0
        if self.gradient == "detached":
            bent = cosines + self.constant(bent - cosines)
        return self.r * (bent - self.m * side) + self.bias.to(cosines.dtype)
