"""The results of a measurement: values with their bars, and curves with their growth."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from perf._growth import Growth

MET, MISSED, NOT_JUDGED, NO_BAR = "met", "missed", "not judged", "–"


@dataclass(frozen=True)
class Bar:
    """The limit that a value must meet."""

    sign: str  # ≤ or ≥
    limit: float

    def __post_init__(self) -> None:
        if self.sign not in ("≤", "≥"):
            raise ValueError(f"a bar's sign is {self.sign!r}; expected ≤ or ≥")

    def met(self, value: float) -> bool:
        return value <= self.limit if self.sign == "≤" else value >= self.limit


def at_most(limit: float) -> Bar:
    return Bar("≤", limit)


def at_least(limit: float) -> Bar:
    return Bar("≥", limit)


@dataclass(frozen=True)
class Measured:
    """One value: the median over the rounds, and the quartiles if there were several."""

    what: str
    at: str  # the sizes of the measurement
    value: float
    unit: str = "×"
    low: float | None = None
    high: float | None = None
    bar: Bar | None = None
    judged: bool = True  # False if the bar is for other sizes

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return NO_BAR
        if not self.judged:
            return NOT_JUDGED
        return MET if self.bar.met(self.value) else MISSED


@dataclass(frozen=True)
class Curve:
    """A value by size; curves with the same `figure` are drawn together."""

    figure: str  # the picture's file name without its ending
    what: str
    size: str  # what x counts
    unit: str  # of y
    x: tuple[float, ...]
    y: tuple[float, ...]
    growth: Growth | None = None
    expected: float | None = None  # the exponent that the method has on paper


@dataclass
class Part:
    """All results of one file."""

    name: str
    title: str
    how: str
    measured: list[Measured] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    seconds: float = 0.0
    others: float | None = None  # share of the cores that other processes used meanwhile
    failure: str = ""  # why there are no results


def missed(parts: Iterable[Part]) -> list[str]:
    """One line for each missed bar and each failed part."""
    found = []
    for part in parts:
        found += [f"{part.title}: {part.failure}"] if part.failure else []
        for one in part.measured:
            if one.verdict == MISSED and one.bar is not None:
                where = f"{part.title}: {one.what} ({one.at})"
                found.append(f"{where} is {one.value:.3g} {one.unit}, the bar is {one.bar.sign} {one.bar.limit:g}")
    return found
