"""How pictures and captions write figures, and what they call metrics."""

import math
from collections.abc import Sequence

from benchmark.metrics import MetricColumn

DIFFERENCES = {"%": "percentage points", "°": "degrees", "": ""}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def name_of(column: MetricColumn) -> str:
    """The heading within a sentence: "verification accuracy", but "EER"."""
    heading = column.heading
    return heading[:1].lower() + heading[1:] if heading[1:2].islower() else heading


def in_units(column: MetricColumn) -> str:
    """What differences of a metric are counted in."""
    return DIFFERENCES[column.unit]


def number(value: float, decimals: int = 2, signed: bool = False) -> str:
    """`−0.18`, with a true minus sign and no signed zero."""
    text = f"{value:{'+' if signed else ''}.{decimals}f}"
    zero = not math.isfinite(value) or float(text) == 0.0
    return text.lstrip("+-") if zero else text.replace("-", "−")


def power(value: float) -> str:
    """A mark of a logarithmic axis: `0.01`, `100`, `10⁶`."""
    exponent = round(math.log10(value)) if value > 0 else 0
    if abs(exponent) < 5 or not math.isclose(value, 10.0**exponent):
        return f"{value:g}"
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def listed(items: Sequence[str], most: int = 12) -> str:
    """`a, b and c`; of very many the first ones, and how many more there are."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def counted(count: int, noun: str) -> str:
    """`1 seed`, `5 seeds`; a noun in -s takes -es."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"
