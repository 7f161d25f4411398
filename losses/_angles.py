"""Unit vectors, angles and cosines of shifted angles whose gradients stay finite everywhere.

In sin θ = √(1−c²) the number under the root has a floor, the square of the dtype's resolution. At c = ±1 the slope is
then zero instead of infinite, and the value is off by at most one resolution.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

SHORTEST = 1e-12  # vectors shorter than this count as zero and get a zero gradient


def wide(tensor: Tensor) -> Tensor:
    """A copy in float64. Apple's GPU has no float64, so there the copy keeps its type."""
    return tensor.clone() if tensor.device.type == "mps" else tensor.to(torch.float64, copy=True)


def row_norms(rows: Tensor) -> Tensor:
    """‖row‖ (N)."""
    norms: Tensor = torch.linalg.vector_norm(rows, dim=1)
    return norms


def inverse_norms(rows: Tensor) -> Tensor:
    """1/‖row‖, and 0 for a row that counts as zero (N). A row that is not finite gives a value that is not finite."""
    norms = row_norms(rows)
    inverse = norms.reciprocal().masked_fill(norms < SHORTEST, 0.0)
    if bool(norms.isinf().any()):  # the squares of finite entries can overflow although the inverse length does not
        largest = rows.abs().amax(1, keepdim=True)
        inverse = torch.where(norms.isinf(), 1.0 / row_norms(rows / largest) / largest[:, 0], inverse)
    return inverse


class _Unit(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        inverse = inverse_norms(rows)[:, None]
        unit_rows = rows * inverse
        ctx.save_for_backward(rows, unit_rows, inverse)
        return unit_rows

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        rows, unit_rows, inverse = ctx.saved_tensors
        if torch.is_grad_enabled():  # create_graph=True: the second derivative goes through the norms too
            inverse = inverse_norms(rows)[:, None]
            unit_rows = rows * inverse
        along = (gradient * unit_rows).sum(1, keepdim=True)
        across: Tensor = torch.addcmul(gradient, unit_rows, along, value=-1) * inverse
        return across


def unit(rows: Tensor) -> Tensor:
    """Rows scaled to length 1. Zero rows stay zero and get a zero gradient."""
    unit_rows: Tensor = _Unit.apply(rows)  # type: ignore[no-untyped-call]
    return unit_rows


def cosines(embeddings: Tensor, weight: Tensor) -> Tensor:
    """c_j (B×C), never beyond ±1."""
    return (unit(embeddings) @ unit(weight).T).clamp(-1.0, 1.0)


@dataclass(frozen=True)
class Directions:
    """The directions of a batch and of its own classes, in float64 and without gradient."""

    unit: Tensor  # z = x/‖x‖
    inverse_norm: Tensor  # 1/‖x‖, 0 for a zero vector
    target_unit: Tensor  # w_y = W_y/‖W_y‖
    target_inverse_norm: Tensor  # 1/‖W_y‖, 0 for a zero vector
    cosine: Tensor  # c_y

    @classmethod
    @torch.no_grad()
    def of(cls, embeddings: Tensor, weight: Tensor, labels: Tensor) -> "Directions":
        rows, own = wide(embeddings), wide(weight.index_select(0, labels))
        inverse, own_inverse = inverse_norms(rows), inverse_norms(own)
        rows.mul_(inverse[:, None])
        own.mul_(own_inverse[:, None])
        cosine = (rows * own).sum(1).clamp_(-1.0, 1.0)
        return cls(rows, inverse, own, own_inverse, cosine)


def sine(cosine: Tensor) -> Tensor:
    """sin θ from cos θ."""
    floor = torch.finfo(cosine.dtype).eps ** 2
    return (1.0 - cosine * cosine).clamp_min(floor).sqrt()


def angle(cosine: Tensor) -> Tensor:
    """θ from cos θ, in [0, π]."""
    return torch.atan2(sine(cosine), cosine)


def cosine_beyond(cosine: Tensor, m: float | Tensor, beyond: str, factor: float = 1.0) -> Tensor:
    """cos(factor·θ + m) for 0 ≤ m ≤ π/2. `beyond` says how it continues where factor·θ + m > π:

    linear  cos θ − m·sin m, never above −1 (ArcFace's original)
    clamp   cos π
    none    the cosine itself, which increases again
    """
    cos_m: float | Tensor
    sin_m: float | Tensor
    if isinstance(m, Tensor):
        m = m.to(cosine.dtype)
        cos_m, sin_m = m.cos(), m.sin()
    else:
        cos_m, sin_m = math.cos(m), math.sin(m)
    if factor == 1.0:
        shifted = cosine * cos_m - sine(cosine) * sin_m
        past = cosine < -cos_m
    else:
        total = factor * angle(cosine) + m
        shifted = total.cos()
        past = total > math.pi
    if beyond == "none":
        return shifted
    if beyond == "clamp":
        return torch.where(past, -1.0, shifted)
    lower = cosine - m * sin_m  # it is below −1 already, unless a factor makes θ small here
    return torch.where(past, lower if factor == 1.0 else lower.clamp_max(-1.0), shifted)
