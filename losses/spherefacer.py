"""SphereFace-R: a multiplicative margin without annealing."""

from torch import Tensor

from losses import Batch, MarginHead, choice, number, scale
from losses._angles import angle, cosine_beyond


class SphereFaceR(MarginHead):
    """variant="v1": ℓ_y = s·cos(min(m·θ_y, π)), every other ℓ_j = s·cos θ_j.
    variant="v2": ℓ_y = s·cos θ_y, every other ℓ_j = s·cos(θ_j/m).

    Paper: Liu et al., SphereFace revived: unifying hyperspherical face recognition, 2022, arXiv:2109.05565.
    Good for: SphereFace's margin with a fixed scale and no schedule. v1 pulls the own class nearer, v2 pushes the
    others away. `gradient` is "detached" by default, because the paper found that this makes training stable.

    Released code: the loss is multiplied by 50/60, and the configuration with s=60 and m=1.4 is v2.
    """

    name = "spherefacer"
    neutral = ({"m": 1.0}, "normface")

    s: float = scale(60.0)
    m: float = number(1.4, low=1.0, high=8.0, meaning="factor of the target's angle, or divisor of the others'")
    variant: str = choice("v1", ("v1", "v2"), meaning="v1 changes the target's angle, v2 those of the other classes")
    gradient: str = choice("detached", ("exact", "detached"), meaning="as for every target-only loss")
    search = {"m": (1.0, 2.0)}

    def setup(self) -> None:
        self.fusable = self.variant == "v1"

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine_beyond(cosine, 0.0, "clamp", factor=self.m) if self.variant == "v1" else cosine

    def negative_cosines(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        return (angle(cosines) / self.m).cos() if self.variant == "v2" else cosines
