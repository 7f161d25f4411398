"""Li-ArcFace: an additive margin, with logits linear in the angle."""

import math

import torch.nn.functional as F
from torch import Tensor

from losses import Batch, Head, radians, scale
from losses._angles import angle, cosines


class LiArcFace(Head):
    """ℓ_y = s·(π − 2(θ_y + m))/π, every other ℓ_j = s·(π − 2θ_j)/π.

    Paper: Li et al., AirFace: lightweight and efficient model for face recognition, 2019, arXiv:1907.12256.
    Good for: small networks and short embeddings, according to its authors. The target falls evenly up to θ=π, and its
    slope does not go to 0 near θ=0 as a cosine's does. m=0 is `arcgrad` at 2/π of the scale.
    """

    name = "liarcface"
    margin_on = "angle"
    scale_on = "angle"
    neutral = ({"m": 0.0, "s": 5.0 * math.pi}, "arcgrad", {"s": 10.0})

    s: float = scale(64.0)
    m: float = radians(0.45, meaning="margin added to the target's angle, radians")
    search = {"m": (0.0, 0.6)}

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        return self.s * (1.0 - 2.0 / math.pi * angle(cosines(embeddings, weight)))

    def training_loss(self, batch: Batch) -> Tensor:
        logits = self.scores(batch.embeddings, batch.weight)
        margin = logits.new_full((len(logits), 1), -2.0 / math.pi * self.s * self.m)
        logits = logits.scatter_add(1, batch.labels[:, None], margin)
        return F.cross_entropy(logits, batch.labels, label_smoothing=self.label_smoothing)
