"""Unit vectors, angles and cosines of shifted angles whose gradients stay finite everywhere.

The square root under sin θ = √(1−c²) has a floor of the dtype's resolution: at c = ±1 its slope, which would be
infinite, becomes zero, and the value is off by at most one resolution.
"""

import math

import torch
from torch import Tensor

SHORTEST = 1e-12  # vectors shorter than this count as zero and get a zero gradient


def wide(tensor: Tensor) -> Tensor:
    """The tensor in float64, for vectors of the batch's length (Apple's GPU has no float64 and stays as it is)."""
    return tensor if tensor.device.type == "mps" else tensor.double()


def inverse_norms(rows: Tensor) -> Tensor:
    """1/‖row‖, and 0 for a row that counts as zero; N×1. A row that is not finite stays so."""
    norms = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return torch.where(norms < SHORTEST, 0.0, norms.reciprocal())


def unit(rows: Tensor) -> Tensor:
    """Rows at length 1. Zero rows stay zero and get a zero gradient."""
    norms = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return torch.where(norms < SHORTEST, 0.0, rows / norms.clamp_min(SHORTEST))


def sine(cosine: Tensor) -> Tensor:
    """sin θ from cos θ."""
    floor = torch.finfo(cosine.dtype).eps ** 2
    return ((1.0 - cosine) * (1.0 + cosine)).clamp_min(floor).sqrt()


def angle(cosine: Tensor) -> Tensor:
    """θ from cos θ, in [0, π]."""
    return torch.atan2(sine(cosine), cosine)


def cosine_beyond(cosine: Tensor, m: float | Tensor, beyond: str, factor: float = 1.0) -> Tensor:
    """cos(factor·θ + m) for 0 ≤ m ≤ π/2, with one of three ways to go on where factor·θ + m > π:

    linear  cos θ − m·sin m, never above −1 (ArcFace's original)
    clamp   cos π
    none    the cosine itself, which rises again
    """
    margin = torch.as_tensor(m, dtype=cosine.dtype, device=cosine.device)
    if factor == 1.0:
        shifted = cosine * margin.cos() - sine(cosine) * margin.sin()
        past = cosine < -margin.cos()
    else:
        total = factor * angle(cosine) + margin
        shifted = total.cos()
        past = total > math.pi
    if beyond == "none":
        return shifted
    if beyond == "clamp":
        return torch.where(past, -1.0, shifted)
    return torch.where(past, (cosine - margin * margin.sin()).clamp_max(-1.0), shifted)
