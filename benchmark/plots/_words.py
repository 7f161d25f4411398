"""How pictures and captions write figures, and what they call metrics."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

NAMES = {
    "accuracy": "verification accuracy",
    "classification_accuracy": "classification accuracy",
    "eer": "equal error rate",
    "auc": "area under the ROC curve",
    "recall@1": "recall@1",
    "map@r": "MAP@R",
}
DEGREES = ("intra", "inter", "inter_min")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN = ("nll", "brier")


@dataclass(frozen=True)
class Unit:
    """How a metric is shown: times `factor`, with a sign behind it."""

    factor: float
    sign: str  # behind a value
    difference: str  # of a difference

    def value(self, value: float, decimals: int = 2) -> str:
        return f"{number(self.factor * value, decimals)}{self.sign}"


def unit_of(metric: str) -> Unit:
    """Shares are shown in per cent and their differences in percentage points, angles in degrees."""
    name = metric.rpartition("/")[2]
    if name.endswith(DEGREES):
        return Unit(1.0, "°", "degrees")
    if name in PLAIN:
        return Unit(1.0, "", "")
    return Unit(100.0, " %", "percentage points")


def name_of(metric: str) -> str:
    """`test/accuracy` is "verification accuracy"; a metric without such a name keeps its own."""
    split, _, name = metric.rpartition("/")
    known = NAMES.get(name, name)
    return known if split in ("", "test") else f"{known} ({split})"


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
