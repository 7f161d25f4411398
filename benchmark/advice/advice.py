"""Advice for C classes: rules and bounds for every loss, and what was measured at the nearest number of classes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import losses
from benchmark.advice.maps_file import Map, MapRow
from benchmark.advice.theory import RULES, MarginBound, Rule, largest_angular_margin, largest_cosine_margin
from benchmark.errors import InputError
from benchmark.text import counted
from losses import Head

FEWEST_CLASSES, MOST_CLASSES = 2, 10**12
FAR = 2.0  # times the nearest measured number of classes: beyond it a warning says so
BOUNDS = {"cosine": largest_cosine_margin, "angle": largest_angular_margin}
"""The largest useful margin, by a loss's `margin_on`."""


@dataclass(frozen=True)
class Case:
    """What someone asks for."""

    classes: int
    dim: int | None = None
    images_per_class: float | None = None
    gap: float = 1.0  # radians, for ArcGrad's rules

    def __post_init__(self) -> None:
        if not FEWEST_CLASSES <= self.classes <= MOST_CLASSES:
            raise InputError(f"--classes {self.classes}: expected a whole number from 2 to {MOST_CLASSES:,}")
        if self.dim is not None and not 1 <= self.dim <= 65_536:
            raise InputError(f"--dim {self.dim}: expected a whole number from 1 to 65,536")
        if self.images_per_class is not None and not 0.0 < self.images_per_class <= 1e9:
            raise InputError(f"--images-per-class {self.images_per_class:g}: expected a positive number up to 10⁹")
        if not 0.0 < self.gap <= math.pi:
            raise InputError(f"--gap {self.gap:g}: expected radians, more than 0 and at most π")

    @property
    def room(self) -> int:
        """Dimensions for the bounds on m: those given, or as many as a simplex needs."""
        return self.dim or self.classes - 1


@dataclass(frozen=True)
class BestMeasured:
    """The setting of a loss that was best on validation on one dataset of the maps."""

    row: MapRow
    as_good: tuple[float, ...]  # scales with the same margin whose mean lies inside its interval, itself among them


@dataclass(frozen=True)
class LossAdvice:
    loss: str
    given: str  # the settings of its paper
    scales: tuple[tuple[Rule, float], ...]
    margin: MarginBound | None
    measured: tuple[BestMeasured, ...]


@dataclass(frozen=True)
class Advice:
    case: Case
    losses: tuple[LossAdvice, ...]
    evidence: tuple[str, ...]
    warnings: tuple[str, ...]
    maps: Map | None


def advise(case: Case, maps: Map | None) -> Advice:
    """For every loss that has an s or an m to choose."""
    near = nearest(maps, case.classes)
    chosen = [name for name in losses.names() if _has_choice(losses.get(name))]
    found = tuple(_of_loss(name, case, near) for name in chosen)
    warned = (*warnings(case, maps, near), *at_the_edge(found, near))
    return Advice(case, found, tuple(evidence(maps, near)), warned, maps)


def scale_by(rule: Rule, case: Case) -> float | None:
    """None where the rule gives no positive scale for so few classes."""
    return rule.scale(case.classes, case.gap) if case.classes >= rule.fewest else None


def nearest(maps: Map | None, classes: int) -> tuple[MapRow, ...]:
    """The rows at the measured number of classes that is nearest by ratio, of every dataset with that many."""
    if maps is None:
        return ()
    distances = {row.classes: abs(math.log(row.classes / classes)) for row in maps.rows}
    least = min(distances.values())
    return tuple(row for row in maps.rows if distances[row.classes] <= least + 1e-12)


def best_measured(rows: Sequence[MapRow]) -> BestMeasured | None:
    """Of one loss on one dataset: the best validation mean; settings with a diverged run come last."""
    known = [row for row in rows if row.mean is not None and row.validation is not None]
    if not known:
        return None
    best = min(known, key=lambda row: (row.diverged > 0, -(row.validation or 0.0), row.s or 0.0, row.m or 0.0))
    least = (best.mean if best.low is None else best.low) or 0.0
    alike = [row for row in known if row.m == best.m and (row.mean or 0.0) >= least]
    return BestMeasured(best, tuple(sorted({row.s for row in alike if row.s is not None})))


def _of_loss(name: str, case: Case, near: Sequence[MapRow]) -> LossAdvice:
    loss = losses.get(name)
    rules = [rule for rule in RULES if "s" in loss.hyper and rule.multiplies == loss.scale_on]
    found = [(rule, scale_by(rule, case)) for rule in rules]
    scales = tuple((rule, _scale_factor(loss) * scale) for rule, scale in found if scale is not None)
    bound = BOUNDS.get(loss.margin_on) if loss.margin_name in loss.hyper else None
    datasets = dict.fromkeys(row.dataset for row in near)
    best = [best_measured([row for row in near if row.loss == name and row.dataset == one]) for one in datasets]
    margin = None if bound is None else _within_reach(loss, bound(case.classes, case.room))
    return LossAdvice(name, _given(loss), scales, margin, tuple(one for one in best if one is not None))


def _within_reach(loss: type[Head], bound: MarginBound) -> MarginBound:
    """The bound, or the largest margin that the loss accepts if that is less."""
    most = float(getattr(loss.hyper[loss.margin_name], "high", math.inf))
    return bound if bound.largest <= most else replace(bound, largest=most, why=f"the most it takes; {bound.why}")


def _scale_factor(loss: type[Head]) -> float:
    """The loss's scale divided by the equal scale of the loss that it equals without margin."""
    if loss.neutral is None or len(loss.neutral) < 3:
        return 1.0
    own, _, equal = loss.neutral
    return float(own["s"] / equal["s"]) if "s" in own and "s" in equal else 1.0


def _has_choice(loss: type[Head]) -> bool:
    return any(name in loss.hyper for name in ("s", loss.margin_name))


def _given(loss: type[Head]) -> str:
    """`s=64 m=0.5`, the defaults, which are the paper's."""
    shown = {key: loss.hyper[key].default for key in ("s", loss.margin_name) if key in loss.hyper}
    return " ".join(f"{key}={value:g}" if isinstance(value, int | float) else f"{key}={value}"
                    for key, value in shown.items() if value is not None)  # fmt: skip


def evidence(maps: Map | None, near: Sequence[MapRow]) -> list[str]:
    """Where the measured values come from, in words."""
    if maps is None:
        return []
    lines = [f"Measured: experiment {maps.experiment}, {maps.about['measured']}, {maps.about['versions']}."]
    for dataset in dict.fromkeys(row.dataset for row in near):
        rows = [row for row in near if row.dataset == dataset]
        first, seeds = rows[0], sorted({row.runs for row in rows})
        lines.append(
            f"{dataset}: {first.protocol}, {first.classes:,} classes of {first.images_per_class:g} training images, "
            f"embeddings of {first.dim} dimensions, {' or '.join(map(str, seeds))} seeds, {first.metric}; "
            f"{counted(len(rows), 'setting')}, {counted(sum(row.diverged for row in rows), 'diverged run')}."
        )
    return lines


def at_the_edge(found: Sequence[LossAdvice], near: Sequence[MapRow]) -> list[str]:
    """Best scales at the edge of what was tried."""
    lines = []
    for dataset in dict.fromkeys(row.dataset for row in near):
        tried = [row.s for row in near if row.dataset == dataset and row.s is not None]
        best = {one.loss: best.row.s for one in found for best in one.measured if best.row.dataset == dataset}
        for edge, which, beyond in ((min, "smallest", "smaller"), (max, "largest", "larger")):
            names = [name for name, s in best.items() if s is not None and s == edge(tried) and len(set(tried)) > 1]
            if names:
                lines.append(
                    f"On {dataset} s={edge(tried):g} is best for {', '.join(names)}. It is the {which} that was tried, "
                    f"and a {beyond} one may be better."
                )
    return lines


def warnings(case: Case, maps: Map | None, near: Sequence[MapRow]) -> list[str]:
    """What the advice does not cover. `headline` says whether the number of classes was measured."""
    found = []
    if case.classes < 3:
        found.append("AdaCos's and AdaAcos's rules need at least 3 classes; s=auto treats two as three.")
    if case.dim is None:
        found.append("The bounds on m hold for embeddings of at least C−1 dimensions. Add --dim for yours.")
    if maps is None:
        return found
    counts = [row.classes for row in maps.rows]
    ratio = max(near[0].classes / case.classes, case.classes / near[0].classes)
    if ratio > FAR and min(counts) <= case.classes <= max(counts):
        found.append(f"The nearest number of classes that was measured is {near[0].classes:,}, {ratio:.1f} times off.")
    there = f"what was measured with {near[0].classes:,} classes"
    images, dims = [row.images_per_class for row in near], [row.dim for row in near]
    if case.images_per_class is not None and not min(images) <= case.images_per_class <= max(images):
        found.append(f"{case.images_per_class:g} images per class lie outside {there}, {_span(images)}.")
    if case.dim is not None and not min(dims) <= case.dim <= max(dims):
        found.append(f"Embeddings of {case.dim} dimensions lie outside {there}, {_span(dims)}.")
    return found


def _span(values: Sequence[float]) -> str:
    least, most = min(values), max(values)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"
