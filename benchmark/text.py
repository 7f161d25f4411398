"""How numbers, counts, times and lists are written, everywhere."""

import math
import re
from collections.abc import Iterable, Sequence

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SMALLEST_P = 0.001
_NUMBERS = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)")


def number(value: float, decimals: int = 2, signed: bool = False) -> str:
    """`−0.18`, with a true minus sign and no signed zero; with `signed`, `+0.18`."""
    text = f"{value:{'+' if signed else ''}.{decimals}f}"
    zero = not math.isfinite(value) or float(text) == 0.0
    return text.lstrip("+-") if zero else text.replace("-", "−")


def short(value: float) -> str:
    """Four digits at most: `0.3`, `22.63`."""
    return f"{value:.4g}"


def power(value: float) -> str:
    """A mark of a logarithmic axis: `0.01`, `100`, `10⁶`."""
    exponent = round(math.log10(value)) if value > 0 else 0
    if abs(exponent) < 5 or not math.isclose(value, 10.0**exponent):
        return f"{value:g}"
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def p_value(p: float) -> str:
    """`0.012`, or `< 0.001`."""
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"


def duration(seconds: float) -> str:
    """`< 1 s`, `7.5 s`, `42 s`, `3 min`, `1.5 h`."""
    if 0 < seconds < 1:
        return "< 1 s"
    size, unit = (1, "s") if seconds < 90 else (60, "min") if seconds < 5400 else (3600, "h")
    return f"{seconds / size:.{0 if seconds >= 9.95 * size else 1}f}".removesuffix(".0") + f" {unit}"


def listed(items: Sequence[str], most: int = 12) -> str:
    """`a, b and c`; of very many the first ones, and how many more there are."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def counted(count: int, noun: str) -> str:
    """`1 seed`, `5 seeds`; a noun in -s takes -es."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def in_words(count: int) -> str:
    """`three`; numbers above twelve in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def all_of(count: int, noun: str) -> str:
    """`both datasets`, `all 4 datasets`."""
    return f"both {noun}s" if count == 2 else f"all {count:,} {noun}s"


def in_natural_order(names: Iterable[str]) -> list[str]:
    """Numbers inside names are sorted by size: `glyphs-100`, `glyphs-300`, `glyphs-1000`."""
    return sorted(names, key=natural_key)


def natural_places(names: Iterable[str]) -> dict[str, int]:
    """Each name's place in natural order; `frame["dataset"].map(natural_places(frame["dataset"]))` sorts a frame."""
    return {name: place for place, name in enumerate(in_natural_order(set(names)))}


def natural_key(name: str) -> tuple[list[str | float], str]:
    """What sorts names in natural order."""
    parts: list[str | float] = list(_NUMBERS.split(name))  # texts and numbers in turn, so that like meets like
    parts[1::2] = [float(str(number).replace(",", "")) for number in parts[1::2]]
    return parts, name
