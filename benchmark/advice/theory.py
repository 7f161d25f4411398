"""Rules for the scale s and bounds on the margin m, from the number of classes C and the embedding's dimensions D."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import optimize, special

from losses._hyper import auto_scale
from losses.adacos_fixed import fixed_scale
from losses.arcgrad import lambert_w

COSFACE = "CosFace, Wang et al. 2018, arXiv:1801.09414"
ADACOS = "AdaCos, Zhang et al. 2019, arXiv:1905.00292"
ADAACOS = "the AdaAcos repository of VBambi"
ARCGRAD = "ArcGrad, IJCNN 2020, doi 10.1109/IJCNN48605.2020.9207251"
RANKIN = "Rankin 1955, The closest packing of spherical caps in n dimensions"
COSINES, ANGLES = "cosine", "angle"
LOGITS = {COSINES: "s·cos θ", ANGLES: "−s·θ"}
"""The logit whose scale a rule gives, by the loss's `scale_on`."""


@dataclass(frozen=True)
class Rule:
    """A scale from the class count."""

    name: str
    formula: str
    source: str
    multiplies: str  # COSINES or ANGLES
    scale: Callable[[int, float], float]  # of C and the gap, which rules for angles need
    fewest: int = 2  # classes from which on it gives a positive scale
    bound: bool = False  # a least scale rather than the one to take


def smallest_scale(classes: int, posterior: float) -> float:
    """CosFace's bound (C−1)/C · ln((C−1)·P/(1−P)): below it the class centres themselves have no posterior P."""
    others = classes - 1
    return others / classes * math.log(others * posterior / (1.0 - posterior))


def arcgrad_quoted(classes: int, gap: float) -> float:
    """(W(C−1) + 1)/gap, as the paper prints it."""
    return (lambert_w(classes - 1.0) + 1.0) / gap


def arcgrad_maximiser(classes: int, gap: float) -> float:
    """(W((C−1)/e) + 1)/gap, where the slope of the loss at that gap is truly largest."""
    return (lambert_w((classes - 1.0) / math.e) + 1.0) / gap


RULES = (
    Rule("CosFace, P=.9", "≥ (C−1)/C·ln(9(C−1))", COSFACE, COSINES, lambda c, _: smallest_scale(c, 0.9), bound=True),
    Rule("CosFace, P=.99", "≥ (C−1)/C·ln(99(C−1))", COSFACE, COSINES, lambda c, _: smallest_scale(c, 0.99), bound=True),
    Rule("AdaCos, fixed", "√2·ln(C−1)", ADACOS, COSINES, lambda c, _: fixed_scale(c), fewest=3),
    Rule("AdaAcos, s=auto", "ln(C−1)/cos(π/2.3)", ADAACOS, COSINES, lambda c, _: auto_scale(c), fewest=3),
    Rule("ArcGrad, quoted", "(W(C−1)+1)/gap", ARCGRAD, ANGLES, arcgrad_quoted),
    Rule("ArcGrad, maximiser", "(W((C−1)/e)+1)/gap", ARCGRAD, ANGLES, arcgrad_maximiser),
)


@dataclass(frozen=True)
class MarginBound:
    """The largest margin that C classes in D dimensions leave room for."""

    largest: float
    why: str
    source: str


def largest_angle(classes: int, dim: int) -> tuple[float, str, str]:
    """What the smallest angle between C directions in D dimensions cannot exceed, radians, why, and the source.

    A simplex needs D ≥ C−1 dimensions; with more classes some two are at a right angle or closer, and caps of half the
    smallest angle around every class must fit onto the sphere side by side, which in two dimensions gives 2π/C exactly.
    """
    if classes <= dim + 1:
        return math.acos(-1.0 / (classes - 1)), "C ≤ D+1: a simplex", COSFACE
    if dim == 1:
        return 0.0, "one dimension has two directions only", RANKIN
    by_area = 2.0 * _cap_angle(1.0 / classes, dim)
    if dim == 2:
        return by_area, "D = 2: the circle", COSFACE
    if by_area < math.pi / 2:
        return by_area, "C caps must fit onto the sphere", "areas of spherical caps"
    return math.pi / 2, "C > D+1: some two classes are at 90° or closer", RANKIN


def largest_cosine_margin(classes: int, dim: int) -> MarginBound:
    """CosFace's m: 1 − the cosine of the smallest angle, which is C/(C−1) for C ≤ D+1 and 1−cos(2π/C) on a circle."""
    angle, why, source = largest_angle(classes, dim)
    return MarginBound(1.0 - math.cos(angle), why, source)


def largest_angular_margin(classes: int, dim: int) -> MarginBound:
    """ArcFace's m, by the same argument: an embedding on its own class weight is at the smallest angle from another."""
    angle, why, source = largest_angle(classes, dim)
    return MarginBound(min(angle, math.pi), f"CosFace's argument on the angle; {why}", source)


def _cap_angle(share: float, dim: int) -> float:
    """The angle of a cap that covers a share of the sphere in D ≥ 2 dimensions, for shares up to a half."""

    def excess(angle: float) -> float:
        return 0.5 * float(special.betainc((dim - 1) / 2.0, 0.5, math.sin(angle) ** 2)) - share

    if share >= 0.5:
        return math.pi / 2
    return float(optimize.brentq(excess, 0.0, math.pi / 2, xtol=1e-14))
