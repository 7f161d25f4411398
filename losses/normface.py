"""NormFace: softmax over scaled cosines."""

from losses import CosineHead, scale


class NormFace(CosineHead):
    """ℓ_j = s·cos θ_j, no margin.

    Paper: Wang et al., NormFace: L2 hypersphere embedding for face verification, 2017, arXiv:1704.06369.
    Good for: the baseline of every comparison at the same scale: the effect of a margin is the difference from it.
    """

    name = "normface"
    neutral = None

    s: float = scale(64.0)
