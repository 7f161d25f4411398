"""Hyper-parameters, declared once on a loss's class with default, range and meaning.

    class CosFace(TargetOnlyHead):
        m: float = number(0.35, low=0.0, high=2.0, meaning="margin taken from the target's cosine")
        search = {"m": (0.0, 0.5)}

`search` gives the ranges for tuning: `(low, high)`, `(low, high, "log")`, or a list of values. Tuning does not change a
hyper-parameter that `search` does not name. The exception is the scale, which has a default range.

The declaring functions return `Any`, so that type checkers use the annotation beside them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from losses._checks import is_number, plain
from losses._errors import InputError, did_you_mean

LARGEST_SCALE = 10_000.0
HALF_POSTERIOR_ANGLE = math.pi / 2.3
ELSEWHERE = {
    **dict.fromkeys(("embedding_size", "embedding_dim", "feat_dim", "in_features"), "dim"),
    **dict.fromkeys(("out_features", "n_classes"), "num_classes"),
    "scale": "s",
}
"""Names that other libraries use → their names here."""


@dataclass(frozen=True)
class Search:
    """The values that tuning tries: a few given ones, or those between two bounds, both included."""

    among: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False  # sampled evenly in the logarithm
    whole: bool = False

    def in_words(self) -> str:
        if self.among:
            return "one of " + ", ".join(repr(value) for value in self.among)
        return f"{self.low:g} to {self.high:g}" + (", log" if self.log else "")


SCALES = Search(low=4.0, high=64.0, log=True)


@dataclass(frozen=True)
class Hyper:
    """One hyper-parameter of a loss."""

    default: Any
    meaning: str
    search: Search | None = field(default=None, kw_only=True)

    def allowed(self) -> str:
        raise TypeError(f"{type(self).__name__} does not say what it allows")

    def accepts(self, value: Any) -> bool:
        raise TypeError(f"{type(self).__name__} does not say what it accepts")

    def degrees_hint(self, name: str, value: Any) -> str:
        """What to write instead of a value that is not accepted if it looks like degrees; otherwise nothing."""
        return ""

    def resolve(self, value: Any, num_classes: int) -> Any:
        """The value that the loss computes with. Rules such as s="auto" become numbers here."""
        return value


@dataclass(frozen=True)
class Number(Hyper):
    low: float
    high: float
    above: bool = False
    whole: bool = False
    rules: tuple[str, ...] = ()
    auto_from: int = 2
    radians: bool = False

    def allowed(self) -> str:
        kind = "an integer" if self.whole else "a number"
        sign = "<" if self.above else "≤"
        words = "".join(f' or "{rule}"' for rule in self.rules) + (" or None" if self.default is None else "")
        return f"{kind} with {self.low:g} {sign} value ≤ {self.high:g}{words}"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str) or value is None:
            return value in self.rules or value is self.default
        return (
            is_number(value, self.whole) and self.low <= value <= self.high and not (self.above and value == self.low)
        )

    def degrees_hint(self, name: str, value: Any) -> str:
        if not (self.radians and is_number(value) and abs(value) <= 360.0 and self.accepts(math.radians(value))):
            return ""
        return f"; {name} is in radians: {value:g}° is {name}={math.radians(value):.3g}"

    def resolve(self, value: Any, num_classes: int) -> Any:
        if value == "auto":
            if num_classes < self.auto_from:
                raise InputError(f'"auto" needs at least {self.auto_from} classes, not {num_classes}; give a number')
            return auto_scale(num_classes)
        if isinstance(value, str) or value is None:
            return value
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Choice(Hyper):
    options: tuple[Any, ...]

    def allowed(self) -> str:
        return "one of " + ", ".join(repr(option) for option in self.options)

    def accepts(self, value: Any) -> bool:
        return any(type(value) is type(option) and value == option for option in self.options)


def number(default: float | None, *, low: float, high: float, above: bool = False, meaning: str) -> Any:
    """Declares a real number from `low` to `high`; with `above`, `low` itself is not allowed.

    `default` is the value if none is given, `meaning` one line for people.

    >>> number(0.35, low=0.0, high=2.0, meaning="margin").allowed()
    'a number with 0 ≤ value ≤ 2'
    """
    return Number(default, meaning, float(low), float(high), above)


def radians(
    default: float | None, *, low: float = 0.0, high: float = math.pi / 2, above: bool = False, meaning: str
) -> Any:
    """Declares an angle in radians; an error helps someone who gives degrees. Arguments are those of `number`.

    `default`, `low`, `high`, `above` and `meaning` are as there; `high` is π/2 unless given.

    >>> radians(0.5, meaning="margin").degrees_hint("m", 28.6)
    '; m is in radians: 28.6° is m=0.499'
    """
    return Number(default, meaning, float(low), float(high), above, radians=True)


def integer(default: int, *, low: int, high: int, meaning: str) -> Any:
    """Declares a whole number from `low` to `high`. `default` is the value if none is given, `meaning` one line for
    people.

    >>> integer(3, low=1, high=16, meaning="centres of each class").accepts(2.5)
    False
    """
    return Number(default, meaning, low, high, whole=True)


def choice(default: Any, options: tuple[Any, ...], *, meaning: str) -> Any:
    """Declares one of the values `options`. `default` is the value if none is given, `meaning` one line for people.

    >>> choice("arc", ("arc", "cos"), meaning="where the margin goes").allowed()
    "one of 'arc', 'cos'"
    """
    return Choice(default, meaning, options)


def scale(
    default: float | str, *, rules: tuple[str, ...] = ("auto",), auto_from: int = 2, meaning: str | None = None
) -> Any:
    """Declares the scale s of the logits: a positive number, or "auto" for `auto_scale` of the class count.

    `default` is the value if none is given, `rules` the words that are allowed beside numbers, `auto_from` the fewest
    classes for "auto", and `meaning` one line for people. A scale is searched from 4 to 64 unless `search` says
    otherwise.

    >>> round(scale("auto").resolve("auto", num_classes=100), 1)
    22.6
    """
    meaning = meaning or 'scale of the logits; "auto" chooses it by the class count'
    return Number(default, meaning, 0.0, LARGEST_SCALE, above=True, rules=rules, auto_from=auto_from, search=SCALES)


def auto_scale(num_classes: int) -> float:
    """The rule behind s="auto": ln(C−1) / cos(π/2.3). Two classes count as three.

    At this scale a sample has posterior 1/2 if it is at 78° (π/2.3) from its class and at 90° from all others. It is
    AdaAcos's rule, used here for every loss: 10.8 for C=10, 22.6 for 100, 45.5 for 10,572.
    """
    return math.log(max(num_classes - 1, 2)) / math.cos(HALF_POSTERIOR_ANGLE)


def with_search(loss: str, declared: Mapping[str, Hyper], spaces: Any) -> dict[str, Hyper]:
    """The hyper-parameters with the ranges of the class's `search`; `InputError` names a range that is wrong."""
    if not isinstance(spaces, Mapping):
        raise InputError(f"{loss}: search={spaces!r} is not allowed; expected a mapping from names to ranges")
    for name in spaces:
        if name not in declared:
            raise InputError(f"search: {_unknown(loss, name, declared)}{did_you_mean(name, declared)}")
    found = {name: _read_search(loss, name, declared[name], given) for name, given in spaces.items()}
    return {**declared, **{name: replace(declared[name], search=search) for name, search in found.items()}}


def _read_search(loss: str, name: str, hyper: Hyper, given: Any) -> Search | None:
    if given is None:
        return None
    if isinstance(given, list) and given and all(hyper.accepts(value) for value in given):
        return Search(among=tuple(given))
    if isinstance(hyper, Number) and isinstance(given, tuple) and given[2:] in ((), ("log",)) and len(given) > 1:
        (low, high), log = given[:2], len(given) == 3
        bounds = all(isinstance(bound, int | float) and hyper.accepts(bound) for bound in (low, high))
        if bounds and low < high and (low > 0 or not log):
            return Search(low=low, high=high, log=log, whole=hyper.whole)
    raise InputError(
        f'{loss}: search of {name}={given!r} is not allowed; expected (low, high) or (low, high, "log") with '
        f"low < high, or a list of values, {name} being {hyper.allowed()}"
    )


def resolve_all(loss: str, declared: Mapping[str, Hyper], given: Mapping[str, Any], num_classes: int) -> dict[str, Any]:
    """The value of every declared hyper-parameter; `InputError` names one that is out of range."""
    values = {}
    for name, hyper in declared.items():
        value = plain(given.get(name, hyper.default))
        if not hyper.accepts(value):
            hint = hyper.degrees_hint(name, value)
            raise InputError(f"{loss}: {name}={value!r} is not allowed; {name} is {hyper.allowed()}{hint}")
        try:
            values[name] = hyper.resolve(value, num_classes)
        except ValueError as problem:
            raise InputError(f"{loss}: {name}={value!r}: {problem}") from problem
    return values


def check_names(
    loss: str, declared: Mapping[str, Hyper], given: Mapping[str, Any], arguments: Iterable[str], margin: str
) -> None:
    """`InputError` names a hyper-parameter that the loss does not have, and says what to write instead."""
    for name, value in given.items():
        if name in declared:
            continue
        known = (*arguments, *declared)
        meant = {**ELSEWHERE, "margin": margin}.get(name)
        hint = did_you_mean(name, known)
        if meant in known:
            value = plain(value)
            fits = meant not in declared or declared[meant].accepts(value)
            hint = ("" if fits else declared[meant].degrees_hint(meant, value)) or f"; write {meant}={value!r}"
        raise InputError(_unknown(loss, name, declared) + hint)


def _unknown(loss: str, name: str, declared: Mapping[str, Hyper]) -> str:
    return f"{loss} has no hyper-parameter {name!r}; it takes: {', '.join(declared) or 'none'}"
