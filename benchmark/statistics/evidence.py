"""Verdicts on claims: supported, refuted, or not decided by this much data.

An `Effect` is a paired difference, signed so that what is claimed is positive, and two bars:

    claim                            supported above    refuted below
    more (or less) than the other    0                  the margin
    no worse than the other          −margin            −margin

RULES says when a claim is supported and when refuted. The margin is written down beforehand as the smallest gain worth
claiming. A small but certain gain is supported, and the note says small.

Many claims are looked at, so each verdict must also survive Holm's correction over all tests of the ledger: the
p-values against the first bar form one family, those against the second another. The chance that any claim of a
ledger is falsely supported is then at most 5 %, and so is the chance that any is falsely refuted. A whole claim with
several parts needs all of them, which needs no further correction.

What is not decided comes with the effect that would have been found with 80 % probability at this data's variance and
the level that the correction left, and with the seeds that would find the effect observed (see `power`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmark.statistics.comparisons import MIN_SEEDS, holm, p_value
from benchmark.statistics.measurements import Estimate
from benchmark.statistics.power import detectable_effect, seeds_needed
from benchmark.statistics.summary import LEVEL

SUPPORTED, REFUTED, NOT_DECIDED = "supported", "refuted", "not decided"
RULES = (
    "A claim of more or of less is supported when the whole 95 % interval of the paired difference lies on the claimed "
    "side of 0, and refuted when it does not and leaves out every gain as large as the margin.",
    "A claim of no worse is supported when the whole interval lies inside the margin and refuted when all of it lies "
    "outside; both verdicts must survive Holm's correction over the ledger, and all else is not decided.",
)


@dataclass(frozen=True)
class Effect:
    """A difference whose claimed side is the positive one, and the bars that decide."""

    estimate: Estimate
    margin: float
    no_worse: bool  # else: more

    @property
    def support_above(self) -> float:
        return -self.margin if self.no_worse else 0.0

    @property
    def refute_below(self) -> float:
        return -self.margin if self.no_worse else self.margin


@dataclass(frozen=True)
class Verdict:
    """What the data say of one effect."""

    verdict: str
    note: str
    low: float | None = None
    high: float | None = None
    p_support: float | None = None  # corrected
    p_refute: float | None = None  # corrected
    support_alpha: float = 1 - LEVEL  # what an uncorrected p had to be below
    refute_alpha: float = 1 - LEVEL


@dataclass(frozen=True)
class Needed:
    """What it would take to decide what is not decided."""

    detectable: float  # true effects from here on would have been supported with 80 % probability
    seeds_to_support: int | None  # None: the effect observed is short of the bar, or no number of seeds would do
    seeds_to_refute: int | None  # likewise


def judge(effects: Sequence[Effect], level: float = LEVEL) -> list[Verdict]:
    """A verdict on each of the `effects`, corrected over all of them; `level` is the probability of the intervals.

    >>> from benchmark.statistics.measurements import estimate
    >>> gains = np.array([0.9, 1.1, 1.0, 1.2, 0.8])
    >>> effect = Effect(estimate(gains, None, expected=5), margin=0.5, no_worse=False)
    >>> judge([effect])[0].verdict
    'supported'
    """
    support = _Family(effects, [effect.support_above for effect in effects], level)
    refute = _Family(effects, [effect.refute_below for effect in effects], level)
    return [_judge(effect, which, support, refute, level) for which, effect in enumerate(effects)]


def what_it_takes(effect: Effect, verdict: Verdict) -> Needed | None:
    """The effect that could have been found, and the seeds that would find the `effect` observed.

    `verdict` is what `judge` said of it. None without variance.

    >>> from benchmark.statistics.measurements import estimate
    >>> gains = np.array([0.9, 1.1, 1.0, 1.2, 0.8])
    >>> effect = Effect(estimate(gains, None, expected=5), margin=0.5, no_worse=False)
    >>> round(what_it_takes(effect, judge([effect])[0]).detectable, 2)
    0.27
    """
    estimate, variance = effect.estimate, effect.estimate.variance
    if estimate.mean is None or variance is None:
        return None

    def seeds(gap: float, alpha: float) -> int | None:
        needed = seeds_needed(variance, estimate.n_seeds, gap, alpha) if gap > 0.0 else None
        return None if needed is None else max(needed, MIN_SEEDS)

    return Needed(
        effect.support_above + detectable_effect(variance, verdict.support_alpha),
        seeds(estimate.mean - effect.support_above, verdict.support_alpha),
        seeds(effect.refute_below - estimate.mean, verdict.refute_alpha),
    )


class _Family:
    """The tests of all effects against one of their bars, corrected together."""

    def __init__(self, effects: Sequence[Effect], bars: Sequence[float], level: float) -> None:
        tests = [p_value(effect.estimate, bar) for effect, bar in zip(effects, bars, strict=True)]
        self.reasons = [reason for _, reason in tests]
        tested = [which for which, (p, _) in enumerate(tests) if p is not None]
        corrected = holm(np.array([tests[which][0] for which in tested], dtype=np.float64))
        self.p = dict(zip(tested, corrected.tolist(), strict=True))
        self.size = len(tested)
        certain = sum(p < 1 - level for p in self.p.values())
        self.alpha = (1 - level) / max(self.size - certain, 1)  # what the smallest p of the rest had to be below


def _judge(effect: Effect, which: int, support: _Family, refute: _Family, level: float) -> Verdict:
    estimate, variance = effect.estimate, effect.estimate.variance
    if estimate.mean is None or variance is None:
        return Verdict(NOT_DECIDED, support.reasons[which])
    half = float(variance.half_width(level))
    low, high = estimate.mean - half, estimate.mean + half
    p_support, p_refute = support.p.get(which), refute.p.get(which)
    above, below = low > effect.support_above, high < effect.refute_below
    found = Verdict(NOT_DECIDED, "", low, high, p_support, p_refute, support.alpha, refute.alpha)
    if above and p_support is not None and p_support < 1 - level:
        small = below and not effect.no_worse
        return replace(found, verdict=SUPPORTED, note="certain, but smaller than the margin" if small else "")
    if below and not above and p_refute is not None and p_refute < 1 - level:
        opposite = "the opposite holds" if high < 0.0 else "any gain is smaller than the margin"
        return replace(found, verdict=REFUTED, note="worse by more than the margin" if effect.no_worse else opposite)
    note = support.reasons[which] or refute.reasons[which]
    if not note and (above or below):
        note = f"decided by its own interval, but not after correction over {support.size} tests"
    return replace(found, note=note)
