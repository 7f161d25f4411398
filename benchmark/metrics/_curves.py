"""EER, AUC, TAR at FAR, ROC and DET from counts of scores.

A pair is accepted when its score reaches the threshold. All that these metrics depend on is how many
same and how many different pairs have each score, so ties are exact and no list of pairs is needed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import InputError
from benchmark.metrics._inputs import Bools, Floats, Ints, Measured

Counts = NDArray[np.unsignedinteger[Any]]

FARS = {f"1e-{k}": 10.0**-k for k in range(1, 7)}
MIN_FALSE_ACCEPTS = 10  # a FAR needs at least 10/FAR different pairs to be measured at all
GRID = 2**24  # cosines are compared in steps of 2⁻²⁴, the spacing of fp32 below 1
_BLOCK = 2**16


@dataclass(frozen=True)
class ScoreCounts:
    """Counts of same and of different pairs at each score, highest score first (empty scores allowed)."""

    same: Counts
    different: Counts
    score_at: Callable[[Ints], Floats]  # the score that belongs to a position of the two arrays

    @cached_property
    def same_before(self) -> Ints:
        return _running_block_sums(self.same)

    @cached_property
    def different_before(self) -> Ints:
        return _running_block_sums(self.different)

    @property
    def n_same(self) -> int:
        return int(self.same_before[-1])

    @property
    def n_different(self) -> int:
        return int(self.different_before[-1])

    @property
    def measurable(self) -> bool:
        """Whether there are pairs of both kinds."""
        return self.n_same > 0 and self.n_different > 0

    @property
    def fars(self) -> dict[str, float]:
        """The FARs that so many different pairs can measure."""
        return {name: far for name, far in FARS.items() if self.n_different >= round(MIN_FALSE_ACCEPTS / far)}

    @property
    def n_blocks(self) -> int:
        return len(self.same_before) - 1

    def in_block(self, block: int) -> tuple[Counts, Counts]:
        part = slice(block * _BLOCK, (block + 1) * _BLOCK)
        return self.same[part], self.different[part]

    def accepted(self, block: int) -> tuple[Ints, Ints]:
        """Same and different pairs accepted before the block and after each of its scores."""
        same, different = self.in_block(block)
        return (
            np.cumsum(np.r_[self.same_before[block], same.astype(np.int64)]),
            np.cumsum(np.r_[self.different_before[block], different.astype(np.int64)]),
        )

    def rates_before_blocks(self) -> tuple[Floats, Floats]:
        """TAR and FAR at the borders of the blocks."""
        return self.same_before / self.n_same, self.different_before / self.n_different


def _running_block_sums(counts: Counts) -> Ints:
    starts = range(0, len(counts), _BLOCK)
    sums = [counts[start : start + _BLOCK].sum(dtype=np.int64) for start in starts]
    return np.cumsum([0, *sums], dtype=np.int64)


def on_grid(scores: Floats) -> Floats:
    """Cosines rounded to multiples of 2⁻²⁴, so that equal pairs tie however their products were rounded."""
    return np.rint(scores * GRID) / GRID


def score_counts(scores: Floats, same: Bools) -> ScoreCounts:
    """The counts of a list of scored pairs: `scores` (P), and which of them are `same` (P).

    >>> score_counts(np.array([0.9, 0.1, 0.9]), np.array([True, False, False])).same.tolist()
    [1, 0]
    """
    distinct, position = np.unique(-scores, return_inverse=True)
    distinct = -distinct

    def count(mask: Bools) -> Counts:
        return np.bincount(position[mask], minlength=len(distinct)).astype(np.uint32)

    return ScoreCounts(count(same), count(~same), lambda positions: distinct[positions])


def auc(counts: ScoreCounts) -> float | None:
    """The chance that a same pair scores above a different one, ties counting half."""
    if not counts.measurable:
        return None
    wins = 0.0
    for block in range(counts.n_blocks):
        same, different = (part.astype(np.float64) for part in counts.in_block(block))
        wins += float(different @ (counts.same_before[block] + np.cumsum(same) - same / 2))
    return wins / counts.n_same / counts.n_different


def eer(counts: ScoreCounts) -> float | None:
    """Where the ROC, its points joined by straight lines, has as many false accepts as false rejects."""
    if not counts.measurable:
        return None
    tar, far = counts.rates_before_blocks()
    block = int(np.searchsorted(tar + far, 1.0)) - 1
    accepted, false = counts.accepted(block)
    far = false / counts.n_different
    excess = accepted / counts.n_same + far - 1.0
    after = int(np.argmax(excess >= 0))
    step = -excess[after - 1] / (excess[after] - excess[after - 1])
    return float(far[after - 1] + step * (far[after] - far[after - 1]))


def tar_at_far(counts: ScoreCounts, name: str) -> float | None:
    """The largest share of same pairs accepted by a threshold whose FAR is no more than `name` ("1e-3").

    None with fewer than 10/FAR different pairs.
    """
    if not counts.measurable or name not in counts.fars:
        return None
    return _at_far(counts, FARS[name])[1] / counts.n_same


def _at_far(counts: ScoreCounts, far: float) -> tuple[int, int, int]:
    """The lowest threshold that keeps to `far`: scores, same pairs and different pairs that it accepts."""
    block = min(int(np.searchsorted(counts.rates_before_blocks()[1], far, "right")), counts.n_blocks) - 1
    accepted, false = counts.accepted(block)
    inside = int(np.searchsorted(false / counts.n_different, far, "right")) - 1
    return block * _BLOCK + inside, int(accepted[inside]), int(false[inside])


def rates(counts: ScoreCounts) -> Measured:
    """EER, AUC, TAR at every FAR, and how many pairs they rest on."""
    return {
        "eer": eer(counts),
        "auc": auc(counts),
        **{f"tar@far={name}": tar_at_far(counts, name) for name in FARS},
        "n_same": counts.n_same,
        "n_different": counts.n_different,
    }


@dataclass(frozen=True)
class Curve:
    """Points of a ROC or DET curve, from the strictest threshold to the loosest."""

    far: Floats
    tar: Floats
    threshold: Floats  # the first is infinite: it accepts nothing

    @property
    def frr(self) -> Floats:
        """Same pairs rejected: the other axis of a DET curve."""
        return 1.0 - self.tar


def curve(counts: ScoreCounts, max_points: int = 2000) -> Curve:
    """The ROC (`far`, `tar`) and DET (`far`, `frr`) curve for a plot, from the `counts` of `score_counts`.

    Every point where there are at most `max_points` scores; otherwise points spread evenly over the FAR and over its
    logarithm, each of them exact. `InputError` without pairs of both kinds.

    >>> curve(score_counts(np.array([0.9, 0.1]), np.array([True, False]))).far.tolist()
    [0.0, 0.0, 1.0]
    """
    if not counts.measurable:
        raise InputError(f"a curve needs same and different pairs, got {counts.n_same}, {counts.n_different}")
    if len(counts.same) <= max_points:
        accepted, false = (np.cumsum(np.r_[0, part.astype(np.int64)]) for part in (counts.same, counts.different))
        points = np.column_stack([np.arange(len(accepted)), accepted, false])
    else:
        half = max_points // 2
        targets = np.r_[0.0, np.geomspace(1 / counts.n_different, 1.0, half), np.linspace(0.0, 1.0, half)]
        found = {(0, 0, 0)} | {_at_far(counts, far) for far in targets}
        points = np.array(sorted(found), dtype=np.int64)
    thresholds = np.r_[np.inf, counts.score_at(points[1:, 0] - 1)]
    return Curve(points[:, 2] / counts.n_different, points[:, 1] / counts.n_same, thresholds)
