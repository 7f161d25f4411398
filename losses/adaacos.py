"""AdaAcos: the angular margin adapted at every step."""

import torch
from torch import Tensor

from losses import Batch, TargetOnlyHead, choice, scale
from losses._angles import angle, cosine_beyond


class AdaAcos(TargetOnlyHead):
    """ℓ_y = s·cos(min(θ_y + m, π)) with m = max(0, median_i(min_{j≠y} θ_ij − θ_iy)) of each batch and
    s = ln(C−1)/cos(π/2.3); every other ℓ_j = s·cos θ_j.

    Source: the AdaAcos repository of VBambi. The margin is the batch's median gap to the nearest other class, so about
    half of the batch stays inside it. Good for: many classes and no margin to tune. For ten classes its author advises
    s≈6, not the formula's 10.8. No gradient goes through m.

    Released code: it computes gradient="detached", the default here. Texts about it often say mean where it uses the
    median.
    """

    name = "adaacos"

    s: float = scale("auto", auto_from=3)
    gradient: str = choice("detached", ("exact", "detached"), meaning="as for every target-only loss")

    m: Tensor

    def setup(self) -> None:
        self.register_buffer("m", torch.tensor(0.0))

    def update_state(self, batch: Batch) -> None:
        gap = angle(batch.hardest_negative()) - angle(batch.cosine)
        self.m.copy_(gap.median().clamp_min(0.0))

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine_beyond(cosine, self.m, "clamp")
