"""Fixed AdaCos: the scale from the class count alone."""

import math

from losses import CosineHead


def fixed_scale(num_classes: int) -> float:
    """√2·ln(C−1): the scale at which the posterior is steepest, for a sample at 45° from its class, 90° from others."""
    return math.sqrt(2.0) * math.log(num_classes - 1)


class AdaCosFixed(CosineHead):
    """ℓ_j = s·cos θ_j with s = √2·ln(C−1): no hyper-parameter at all.

    Paper: Zhang et al., AdaCos: adaptively scaling cosine logits, 2019, arXiv:1905.00292 (its fixed form).
    Good for: a first scale when only the number of classes is known (at least 3).
    """

    name = "adacos_fixed"
    min_classes = 3

    def setup(self) -> None:
        self.s = fixed_scale(self.num_classes)
