"""Sub-center ArcFace: several centres per class, so that wrong labels and odd images do not disturb the main one."""

import torch
from torch import Tensor, nn

from losses import Batch, MarginHead, choice, integer, radians, scale
from losses._angles import cosine_beyond, unit, wide

KEPT = 0.99  # factor of a class's counts at each of its samples: about the last hundred samples count


class SubCenter(MarginHead):
    """ℓ_y = s·cos(θ_y + m), every other ℓ_j = s·cos θ_j, where cos θ_j is the largest over class j's K centres.

    Paper: Deng et al., Sub-center ArcFace: boosting face recognition by large-scale noisy web faces, 2020.
    Good for: training sets with wrong labels. `centres` (C×K×D) are trained. `weight` is each class's dominant centre,
    the one nearest to most of its recent samples, which `hits` counts. It is used for scores and evaluation.
    """

    name = "subcenter"
    margin_on = "angle"
    neutral = ({"k": 1, "m": 0.0}, "normface")

    s: float = scale(64.0)
    m: float = radians(0.5, meaning="margin added to the target's angle, radians")
    k: int = integer(3, low=1, high=16, meaning="K, centres of each class")
    beyond: str = choice("linear", ("linear", "clamp", "none"), meaning="how the target continues where θ + m > π")
    search = {"m": (0.0, 0.6), "k": (1, 4)}

    hits: Tensor

    def make_weight(self) -> None:
        self.centres = nn.Parameter(torch.stack([self.unit_rows() for _ in range(self.k)], dim=1))
        self.register_buffer("hits", torch.zeros(self.num_classes, self.k))

    @property
    def weight(self) -> Tensor:  # type: ignore[override]
        return self.centres.take_along_dim(self.hits.argmax(1)[:, None, None], dim=1)[:, 0]

    def update_state(self, batch: Batch) -> None:
        own = unit(wide(self.centres[batch.labels]).flatten(0, 1)).view(-1, self.k, self.dim)
        nearest = (own @ batch.unit[:, :, None])[:, :, 0].argmax(1)
        new = torch.zeros_like(self.hits).index_put_((batch.labels, nearest), self.hits.new_ones(1), accumulate=True)
        self.hits.mul_(KEPT ** new.sum(1, keepdim=True)).add_(new)

    def cosines(self, batch: Batch) -> tuple[Tensor, Tensor]:
        if not self.training:
            return super().cosines(batch)
        rows, centres = unit(batch.embeddings), unit(self.centres.to(batch.embeddings.dtype).flatten(0, 1))
        cosines = wide((rows @ centres.T).view(len(rows), -1, self.k).max(2).values)
        own = (centres.view_as(self.centres)[batch.labels] * rows[:, None]).sum(2, dtype=cosines.dtype)
        return cosines, own.max(1).values.clamp(-1.0, 1.0)

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine_beyond(cosine, self.m, self.beyond)
