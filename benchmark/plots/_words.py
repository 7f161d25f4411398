"""What pictures and captions call metrics."""

from collections.abc import Iterable

from benchmark.metrics import MetricColumn
from benchmark.statistics import interval_in_words
from benchmark.text import listed

DIFFERENCES = {"%": "percentage points", "°": "degrees", "": ""}


def name_of(column: MetricColumn) -> str:
    """The heading within a sentence: "verification accuracy", but "EER"."""
    heading = column.heading
    return heading[:1].lower() + heading[1:] if heading[1:2].islower() else heading


def intervals_in_words(carries: Iterable[str]) -> str:
    """What the intervals of a picture carry, from a frame's column."""
    found = sorted(interval_in_words(kind) for kind in set(carries) if kind)
    return listed(found) or "no interval: one seed each"


def in_units(column: MetricColumn) -> str:
    """What differences of a metric are counted in."""
    return DIFFERENCES[column.unit]
