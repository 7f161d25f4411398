"""Losses that need more than a target in the place of cos θ_y, written out longhand in float64.

Each takes the batch `there` to compute at and the batch `here` whose values stay constant: state, detached margins,
weights without gradient. At `here` itself both are the same. `corner` says how near `here` lies to where a formula
has a corner that central differences would step over.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tests.losses.longhand import Array, Longhand, angle_between, cross_entropy, margin_cosine

Settings = dict[str, Any]
Formula = Callable[[Longhand, Longhand, Settings], float]
Target = Callable[[Longhand, int], float]
Negative = Callable[[Longhand, int, int], float]


class Centred(Longhand):
    """A batch against classes of several centres (C×K×D): the angle to a class is that to its nearest centre."""

    def __init__(self, x: Array, centres: Array, labels: Array) -> None:
        self.x, self.weight, self.labels = x, centres, labels
        self.every = np.array([[[angle_between(row, centre) for centre in of] for of in centres] for row in x])
        self.theta = self.every.min(axis=2)


def others(batch: Longhand, i: int) -> list[int]:
    return [j for j in range(batch.theta.shape[1]) if j != batch.labels[i]]


def cosine(batch: Longhand, i: int, j: int) -> float:
    return math.cos(batch.theta[i, j])


def norm(batch: Longhand, i: int) -> float:
    return math.sqrt(math.fsum(entry * entry for entry in batch.x[i]))


def softplus(value: float) -> float:
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


def margin_softmax(
    there: Longhand, here: Longhand, chosen: Settings, target: Target, negative: Negative = cosine
) -> float:
    """Cross-entropy of s times both rules; a detached rule is its offset from the cosine, kept as it is at `here`."""
    exact = chosen.get("gradient", "exact") == "exact"
    logits = np.zeros_like(there.theta)
    for i, label in enumerate(there.labels):
        for j in range(logits.shape[1]):
            if j == label:
                new, before = (target(batch, i) for batch in (there, here))
            else:
                new, before = (negative(batch, i, j) for batch in (there, here))
            logits[i, j] = chosen["s"] * (new if exact else cosine(there, i, j) + before - cosine(here, i, j))
    return cross_entropy(logits, there.labels)


def arc(chosen: Settings, m: float | None = None) -> Target:
    shift = chosen["m"] if m is None else m
    return lambda batch, i: margin_cosine(batch.own(i), shift, chosen["beyond"])


# one function a loss


def liarcface(there: Longhand, here: Longhand, chosen: Settings) -> float:
    logits = np.zeros_like(there.theta)
    for i, label in enumerate(there.labels):
        for j in range(logits.shape[1]):
            theta = there.theta[i, j] + (chosen["m"] if j == label else 0.0)
            logits[i, j] = chosen["s"] * (math.pi - 2 * theta) / math.pi
    return cross_entropy(logits, there.labels)


def curricularface(there: Longhand, here: Longhand, chosen: Settings) -> float:
    size = len(here.labels)
    t = chosen["rate"] * sum(math.cos(here.own(i)) for i in range(size)) / size  # and t was 0
    target = arc(chosen)

    def negative(batch: Longhand, i: int, j: int) -> float:
        c = cosine(batch, i, j)
        return c * (t + c) if c > target(batch, i) else c

    return margin_softmax(there, here, chosen, target, negative)


def mvsoftmax(there: Longhand, here: Longhand, chosen: Settings) -> float:
    target = mv_target(chosen)

    def negative(batch: Longhand, i: int, j: int) -> float:
        c = cosine(batch, i, j)
        return chosen["t"] * c + chosen["t"] - 1 if c > target(batch, i) else c

    return margin_softmax(there, here, chosen, target, negative)


def mv_target(chosen: Settings) -> Target:
    return arc(chosen) if chosen["variant"] == "arc" else lambda batch, i: math.cos(batch.own(i)) - chosen["m"]


def magface(there: Longhand, here: Longhand, chosen: Settings) -> float:
    low, high = mag_bounds(here, chosen)

    def length(batch: Longhand, i: int) -> float:
        return min(max(norm(batch, i), low), high)

    def target(batch: Longhand, i: int) -> float:
        share = (length(batch, i) - low) / (high - low)
        m = chosen["l_m"] + (chosen["u_m"] - chosen["l_m"]) * share
        return margin_cosine(batch.own(i), m, chosen["beyond"])

    lengths = [length(there, i) for i in range(len(there.labels))]
    pull = sum(a / high**2 + 1 / a for a in lengths) / len(lengths)
    return margin_softmax(there, here, chosen, target) + chosen["lambda_g"] * pull


def mag_bounds(batch: Longhand, chosen: Settings) -> tuple[float, float]:
    unit = math.sqrt(batch.x.shape[1] / 512)
    return chosen["l_a"] * unit, chosen["u_a"] * unit


def adaface_z(here: Longhand, chosen: Settings) -> list[float]:
    """ẑ of a first batch, whose own mean and deviation are μ and σ."""
    norms = [norm(here, i) for i in range(len(here.labels))]
    mean = sum(norms) / len(norms)
    if len(norms) == 1:
        return [0.0]
    sigma = math.sqrt(sum((one - mean) ** 2 for one in norms) / (len(norms) - 1))
    return [min(max(chosen["h"] * (one - mean) / max(sigma, 1e-3 * mean), -1.0), 1.0) for one in norms]


def adaface(there: Longhand, here: Longhand, chosen: Settings) -> float:
    m, z = chosen["m"], adaface_z(here, chosen)

    def target(batch: Longhand, i: int) -> float:
        shifted = min(max(batch.own(i) - m * z[i], 1e-3), math.pi - 1e-3)
        return math.cos(shifted) - (m + m * z[i])

    return margin_softmax(there, here, chosen, target)


def elastic_margins(here: Longhand, chosen: Settings) -> list[float]:
    """The first draws of seed 0, those that the initial weights took left out."""
    random = torch.Generator().manual_seed(0)
    torch.randn(here.weight.shape, generator=random)
    size = len(here.labels)
    draws = torch.randn(size, generator=random).tolist()
    margins = [min(max(chosen["m"] + chosen["sigma"] * draw, 0.0), math.pi / 2) for draw in draws]
    if "+" not in chosen["variant"]:
        return margins
    found = [math.nan] * size
    hardest_first = sorted(range(size), key=lambda i: math.cos(here.own(i)))
    for i, margin in zip(hardest_first, sorted(margins, reverse=True), strict=True):
        found[i] = margin
    return found


def elasticface(there: Longhand, here: Longhand, chosen: Settings) -> float:
    margins = elastic_margins(here, chosen)

    def target(batch: Longhand, i: int) -> float:
        if "cos" in chosen["variant"]:
            return math.cos(batch.own(i)) - margins[i]
        return margin_cosine(batch.own(i), margins[i], chosen["beyond"])

    return margin_softmax(there, here, chosen, target)


def subcenter(there: Longhand, here: Longhand, chosen: Settings) -> float:
    return margin_softmax(there, here, chosen, arc(chosen))


def p2sgrad(there: Longhand, here: Longhand, chosen: Settings) -> float:
    total = 0.0
    for i, label in enumerate(there.labels):
        for j in range(there.theta.shape[1]):
            total += (cosine(there, i, j) - (1.0 if j == label else 0.0)) ** 2 / 2
    return total / len(there.labels)


def sphereface2_bias(classes: int, chosen: Settings) -> float:
    share, r, m, t = (chosen[key] for key in ("lambda_own", "r", "m", "t"))
    z = share / ((1 - share) * (classes - 1))
    a_p, a_n = r * (2 * 0.5**t - 1 - m), r * (2 * 0.5**t - 1 + m)
    return math.log(2 * z) - a_n - math.log(1 - z + math.sqrt((1 - z) ** 2 + 4 * z * math.exp(a_p - a_n)))


def sphereface2(there: Longhand, here: Longhand, chosen: Settings) -> float:
    share, r, m, t = (chosen[key] for key in ("lambda_own", "r", "m", "t"))
    bias = float(np.float32(sphereface2_bias(here.theta.shape[1], chosen)))  # a parameter is born in fp32

    def g(i: int, j: int) -> float:
        bent, before = (2 * ((cosine(batch, i, j) + 1) / 2) ** t - 1 for batch in (there, here))
        exact = chosen["gradient"] == "exact"
        return bent if exact else cosine(there, i, j) + before - cosine(here, i, j)

    total = 0.0
    for i, label in enumerate(there.labels):
        total += share / r * softplus(-(r * (g(i, label) - m) + bias))
        total += (1 - share) / r * sum(softplus(r * (g(i, j) + m) + bias) for j in others(there, i))
    return chosen["factor"] * total / len(there.labels)


def circle(there: Longhand, here: Longhand, chosen: Settings) -> float:
    s, m = chosen["s"], chosen["m"]
    logits = np.zeros_like(there.theta)
    for i, label in enumerate(there.labels):
        for j in range(logits.shape[1]):
            if j == label:
                logits[i, j] = s * max(1 + m - cosine(here, i, j), 0.0) * (cosine(there, i, j) - (1 - m))
            else:
                logits[i, j] = s * max(cosine(here, i, j) + m, 0.0) * (cosine(there, i, j) - m)
    return cross_entropy(logits, there.labels)


def uniface(there: Longhand, here: Longhand, chosen: Settings) -> float:
    s, m, bias = chosen["s"], chosen["m"], float(np.float32(math.log(10 * here.theta.shape[1])))
    total = 0.0
    for i, label in enumerate(there.labels):
        total += softplus(-(s * (cosine(there, i, label) - m) - bias))
        total += chosen["lambda_others"] * sum(softplus(s * cosine(there, i, j) - bias) for j in others(there, i))
    return total / len(there.labels)


def x2softmax(there: Longhand, here: Longhand, chosen: Settings) -> float:
    def target(batch: Longhand, i: int) -> float:
        return chosen["a"] * (batch.own(i) - chosen["h"]) ** 2 + chosen["k"]

    return margin_softmax(there, here, chosen, target)


def spherefacer(there: Longhand, here: Longhand, chosen: Settings) -> float:
    m = chosen["m"]
    if chosen["variant"] == "v1":
        return margin_softmax(there, here, chosen, lambda batch, i: math.cos(min(m * batch.own(i), math.pi)))

    def negative(batch: Longhand, i: int, j: int) -> float:
        return math.cos(batch.theta[i, j] / m)

    return margin_softmax(there, here, chosen, lambda batch, i: math.cos(batch.own(i)), negative)


FORMULAS: dict[str, Formula] = {
    "adaface": adaface,
    "circle": circle,
    "curricularface": curricularface,
    "elasticface": elasticface,
    "liarcface": liarcface,
    "magface": magface,
    "mvsoftmax": mvsoftmax,
    "p2sgrad": p2sgrad,
    "sphereface2": sphereface2,
    "spherefacer": spherefacer,
    "subcenter": subcenter,
    "uniface": uniface,
    "x2softmax": x2softmax,
}


def corner(name: str, here: Longhand, chosen: Settings) -> float:
    """The smallest distance from a corner of the loss, in whatever it is a corner of."""
    samples = range(len(here.labels))
    gaps = [min(theta, math.pi - theta) for theta in here.theta.flat]
    shifts: Sequence[float] = [chosen.get("m") or 0.0] * len(samples)
    if name == "elasticface":
        shifts = elastic_margins(here, chosen)
        gaps += [abs(a - b) for a, b in zip(*[sorted(here.own(i) for i in samples)[k:] for k in (0, 1)], strict=False)]
    if name == "magface":
        low, high = mag_bounds(here, chosen)
        lengths = [min(max(norm(here, i), low), high) for i in samples]
        gaps += [abs(norm(here, i) / bound - 1.0) for i in samples for bound in (low, high)]
        slope = (chosen["u_m"] - chosen["l_m"]) / (high - low)
        shifts = [chosen["l_m"] + slope * (a - low) for a in lengths]
    if name == "adaface":
        z = adaface_z(here, chosen)
        shifted = [here.own(i) - chosen["m"] * z[i] for i in samples]
        gaps += [abs(theta - edge) for theta in shifted for edge in (1e-3, math.pi - 1e-3)]
    if name in ("curricularface", "mvsoftmax"):
        target = arc(chosen) if name == "curricularface" else mv_target(chosen)
        gaps += [abs(cosine(here, i, j) - target(here, i)) for i in samples for j in others(here, i)]
    if isinstance(here, Centred) and here.every.shape[2] > 1:
        gaps += [float(np.diff(np.sort(each)[:2])[0]) for each in here.every.reshape(-1, here.every.shape[2])]
    if name == "spherefacer":
        gaps += [abs(here.own(i) - math.pi / chosen["m"]) for i in samples]
    gaps += [abs(here.own(i) + shifts[i] - math.pi) for i in samples]
    return min(gaps)
