"""KappaFace: ArcFace with a margin for each class, from its spread and its size."""

import math
import warnings

import torch
from torch import Tensor

from losses import Batch, TargetOnlyHead, choice, number, radians, scale
from losses._angles import cosine_beyond, unit

BEYOND_LARGEST = 1.05  # of the official code's K, so that the largest class keeps a margin


class KappaFace(TargetOnlyHead):
    """ℓ_y = s·cos(θ_y + ψ_y·m0), every other ℓ_j = s·cos θ_j. ψ_c combines the class's concentration κ_c and its
    size n_c; scattered and rare classes get the larger margin. It is computed once per epoch; in the first, ψ=1.

    z̄_i    running mean of each training sample's direction: α·z̄_i + (1−α)·z_i
    κ_c    r(d − r²)/(1 − r²) with r = ‖Σ z̄_i‖/n_c, standardised over the classes to κ̃_c
    w_k    1 − sigmoid(T·κ̃_c)            w_s    (cos(π·n_c/K) + 1)/2

    Paper: Oinar, Le and Woo, KappaFace: adaptive additive angular margin loss, 2022, arXiv:2201.07394.
    Good for: long-tailed training sets. It needs `index=` at every step. `num_samples` and `class_counts` are optional:
    without them the buffers grow and the classes are counted. The official code differs from the paper's text:

    variant="paper"     ψ = γ·w_s + (1−γ)·w_k, K = max n, population deviation
    variant="official"  ψ = γ·w_k + (1−γ)·w_s, K = 1.05·max n, unbiased deviation, z̄ renormalised

    Released code: the configuration that comes with it computes the class sums with a second, slowly following network
    (a momentum encoder) instead of the stored directions, and its memory starts from noise. Both are left out here.
    """

    name = "kappaface"
    margin_name = "m0"
    margin_on = "angle"
    neutral = ({"m0": 0.0}, "normface")

    s: float = scale(64.0)
    m0: float = radians(0.8, meaning="largest margin added to the angle, radians")
    temperature: float = number(0.4, low=0.0, high=100.0, meaning="T, weight of the concentration")
    gamma: float = number(0.7, low=0.0, high=1.0, meaning="γ, the mix of the two weights")
    alpha: float = number(0.1, low=0.0, high=1.0, meaning="α, the share of the old direction that is kept")
    variant: str = choice("official", ("official", "paper"), meaning="the official code's rules or the paper's")
    beyond: str = choice("linear", ("linear", "clamp", "none"), meaning="how the target continues where θ + ψ·m0 > π")
    search = {"m0": (0.0, 1.0), "gamma": (0.0, 1.0)}

    directions: Tensor
    owner: Tensor
    counts: Tensor
    psi: Tensor

    def setup(self) -> None:
        size = self.num_samples or 0
        self.register_buffer("directions", torch.zeros(size, self.dim))
        self.register_buffer("owner", torch.full((size,), -1))
        given = torch.zeros(0, dtype=torch.int64) if self.class_counts is None else self.class_counts
        self.register_buffer("counts", given)
        self.register_buffer("psi", torch.ones(self.num_classes))

    def _growing_buffers(self) -> tuple[str, ...]:
        return ("directions", "owner", "counts")

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine_beyond(cosine, self.psi[batch.labels] * self.m0, self.beyond)

    def update_state(self, batch: Batch) -> None:
        if batch.index is None:
            warnings.warn("kappaface without index= learns no margins: it is arcface with m=m0", stacklevel=4)
            return
        self._grow(int(batch.index.max()) + 1)
        new = batch.unit.to(self.directions.dtype)
        known = (self.owner[batch.index] >= 0)[:, None]
        mixed = torch.where(known, self.alpha * self.directions[batch.index] + (1.0 - self.alpha) * new, new)
        self.directions[batch.index] = unit(mixed) if self.variant == "official" else mixed
        self.owner[batch.index] = batch.labels

    def _grow(self, size: int) -> None:
        missing = size - len(self.owner)
        if missing > 0:
            self.directions = torch.cat([self.directions, self.directions.new_zeros(missing, self.dim)])
            self.owner = torch.cat([self.owner, self.owner.new_full((missing,), -1)])

    @torch.no_grad()
    def end_epoch(self) -> None:
        seen = self.owner >= 0
        found = torch.bincount(self.owner[seen], minlength=self.num_classes)
        present = found > 0
        if not bool(present.any()):
            return
        sums = self.directions.new_zeros(self.num_classes, self.dim, dtype=torch.float64)
        sums.index_add_(0, self.owner[seen], self.directions[seen].double())
        spread = concentration(sums[present].norm(dim=1) / found[present], self.dim)
        spread = standardised(spread, unbiased=self.variant == "official")
        by_spread = 1.0 - torch.sigmoid(self.temperature * spread)
        counts = self.counts if len(self.counts) else found
        largest = counts.max() * (BEYOND_LARGEST if self.variant == "official" else 1.0)
        by_size = (torch.cos(math.pi * counts[present] / largest) + 1.0) / 2.0
        first, second = (by_spread, by_size) if self.variant == "official" else (by_size, by_spread)
        self.psi[present] = (self.gamma * first + (1.0 - self.gamma) * second).to(self.psi.dtype)


def concentration(mean_length: Tensor, dim: int) -> Tensor:
    """κ of a von Mises–Fisher distribution from the length of the mean direction. An infinite κ becomes the largest
    finite one, an undefined κ becomes 0. κ is infinite at length 1 up to rounding, as for a class of one image."""
    r = torch.where(mean_length > 1.0 - 1e-6, 1.0, mean_length)
    kappa = r * (dim - r**2) / (1.0 - r**2)
    finite = kappa[kappa.isfinite()]
    largest = float(finite.max()) if len(finite) else 0.0
    return kappa.nan_to_num(nan=0.0, posinf=largest)


def standardised(values: Tensor, unbiased: bool) -> Tensor:
    """The values with mean 0 and deviation 1 over the classes; equal values, or a single one, become 0."""
    centred = values - values.mean()
    freedom = len(values) - 1 if unbiased else len(values)
    deviation = (centred.square().sum() / max(freedom, 1)).sqrt()
    return torch.where(deviation > 1e-12 * values.abs().max(), centred / deviation, 0.0)
