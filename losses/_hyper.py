"""Hyper-parameters, declared once on a loss's class with default, range and meaning.

    class CosFace(TargetOnlyHead):
        m: float = number(0.35, low=0.0, high=2.0, meaning="margin taken from the target's cosine")
        search = {"m": (0.0, 0.5)}

`search` says where tuning looks: `(low, high)`, `(low, high, "log")`, or a list of values. A hyper-parameter that it
does not name keeps its value, but for the scale, which has a range of its own.

The declaring functions return `Any` so that the annotation beside them is the type that the loss's code sees.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from losses._errors import InputError

LARGEST_SCALE = 10_000.0
HALF_POSTERIOR_ANGLE = math.pi / 2.3


@dataclass(frozen=True)
class Search:
    """Where tuning looks for a value: among some, or between two bounds, both included."""

    among: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False  # evenly in the logarithm
    whole: bool = False

    def in_words(self) -> str:
        if self.among:
            return "one of " + ", ".join(repr(value) for value in self.among)
        return f"{self.low:g} to {self.high:g}" + (", log" if self.log else "")


SCALES = Search(low=4.0, high=64.0, log=True)


@dataclass(frozen=True)
class Hyper:
    """What a loss takes under one name."""

    default: Any
    meaning: str
    search: Search | None = field(default=None, kw_only=True)

    def allowed(self) -> str:
        raise TypeError(f"{type(self).__name__} does not say what it allows")

    def accepts(self, value: Any) -> bool:
        raise TypeError(f"{type(self).__name__} does not say what it accepts")

    def resolve(self, value: Any, num_classes: int) -> Any:
        """The value that the loss works with; rules such as s="auto" are worked out here."""
        return value


@dataclass(frozen=True)
class Number(Hyper):
    low: float
    high: float
    above: bool = False
    whole: bool = False
    rules: tuple[str, ...] = ()
    auto_from: int = 2

    def allowed(self) -> str:
        kind = "an integer" if self.whole else "a number"
        sign = "<" if self.above else "≤"
        words = "".join(f' or "{rule}"' for rule in self.rules) + (" or None" if self.default is None else "")
        return f"{kind} with {self.low:g} {sign} value ≤ {self.high:g}{words}"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str) or value is None:
            return value in self.rules or value is self.default
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return False
        return self.low <= value <= self.high and not (self.above and value == self.low)

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
    """A real number in [low, high], or in (low, high] with `above`."""
    return Number(default, meaning, float(low), float(high), above)


def integer(default: int, *, low: int, high: int, meaning: str) -> Any:
    return Number(default, meaning, low, high, whole=True)


def choice(default: Any, options: tuple[Any, ...], *, meaning: str) -> Any:
    return Choice(default, meaning, options)


def scale(
    default: float | str, *, rules: tuple[str, ...] = ("auto",), auto_from: int = 2, meaning: str | None = None
) -> Any:
    """The scale s of the logits: a positive number, or "auto" for `auto_scale` of the class count."""
    meaning = meaning or 'scale of the logits; "auto" chooses it by the class count'
    return Number(default, meaning, 0.0, LARGEST_SCALE, above=True, rules=rules, auto_from=auto_from, search=SCALES)


def auto_scale(num_classes: int) -> float:
    """The rule behind s="auto": ln(C−1) / cos(π/2.3), with two classes treated as three.

    At this scale a sample at 78° (π/2.3) from its class, the other classes being at right angles to it, has
    posterior 1/2. It is AdaAcos's rule, used here for every loss: 10.8 for C=10, 22.6 for 100, 45.5 for 10,572.
    """
    return math.log(max(num_classes - 1, 2)) / math.cos(HALF_POSTERIOR_ANGLE)


def with_search(loss: str, declared: Mapping[str, Hyper], spaces: Any) -> dict[str, Hyper]:
    """The hyper-parameters with the spaces of the class's `search`; `ValueError` says which of them will not do."""
    if not isinstance(spaces, Mapping):
        raise InputError(f"{loss}: search={spaces!r} is not allowed; expected a mapping from names to ranges")
    for name in spaces:
        if name not in declared:
            raise InputError(f"search: {_unknown(loss, name, declared)}")
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
    """Every declared hyper-parameter's value; `ValueError` names what is unknown or out of range."""
    for name in given:
        if name not in declared:
            raise InputError(_unknown(loss, name, declared))
    values = {}
    for name, hyper in declared.items():
        value = given.get(name, hyper.default)
        if not hyper.accepts(value):
            raise InputError(f"{loss}: {name}={value!r} is not allowed; {name} is {hyper.allowed()}")
        try:
            values[name] = hyper.resolve(value, num_classes)
        except ValueError as problem:
            raise InputError(f"{loss}: {name}={value!r}: {problem}") from problem
    return values


def _unknown(loss: str, name: str, declared: Mapping[str, Hyper]) -> str:
    takes = ", ".join(declared) or "none"
    near = get_close_matches(name, list(declared), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{loss} has no hyper-parameter {name!r}; it takes: {takes}{hint}"
