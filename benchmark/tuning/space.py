"""What a study searches: the learning rate, and hyper-parameters that have a search range and are not pinned."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import inf, log, prod
from typing import Any

import losses
from benchmark.recipe import Recipe
from benchmark.spec import LossRow
from benchmark.spec.loss_rows import unlike_defaults
from losses import Search

RATE = "learning rate"  # with a blank, so that no hyper-parameter has its name
FACTOR = 4.0
"""Without a list of rates, the search goes from the recipe's divided by this to the recipe's times this."""
DIGITS = 4  # of a number that is tried

Space = Mapping[str, Search]


@dataclass(frozen=True)
class Settings:
    """What one trial tries."""

    hyper: Mapping[str, Any]  # what differs from the loss's defaults
    lr: float


def space_of(row: LossRow, recipe: Recipe, rates: tuple[float, ...] | None) -> dict[str, Search]:
    declared = losses.get(row.name).hyper
    found = {name: one.search for name, one in declared.items() if one.search is not None and name not in row.pinned}
    around = Search(low=rounded(recipe.lr / FACTOR), high=rounded(recipe.lr * FACTOR), log=True)
    return {**found, RATE: Search(among=rates) if rates else around}


def first_settings(row: LossRow, recipe: Recipe, rates: tuple[float, ...] | None) -> Settings:
    """The experiment's own; where rates are listed and its own is not among them, with the nearest one."""
    lr = min(rates, key=lambda rate: abs(log(rate / recipe.lr))) if rates else recipe.lr
    return Settings(row.hyper, lr)


def with_values(row: LossRow, values: Mapping[str, Any]) -> Settings:
    """The row's settings with the values of its space."""
    searched = {key: value for key, value in values.items() if key != RATE}
    return Settings(unlike_defaults(row.name, {**row.hyper, **searched}), values[RATE])


def grid(space: Space) -> list[dict[str, Any]]:
    """Every point of a space that is finite; none of another one, for the product with an empty range is empty."""
    return [dict(zip(space, values, strict=True)) for values in product(*(search.among for search in space.values()))]


def size(space: Space) -> float:
    """How many points it has."""
    return prod(len(one.among) or inf for one in space.values())


def values_of(row: LossRow, settings: Settings, space: Space, effective: Mapping[str, Any]) -> dict[str, Any]:
    """Where in the space the settings are. For a rule, such as s="auto" or None, stands its value in `effective`, what
    the loss makes of the row's own settings; a value outside the range counts as its nearest bound."""
    declared = losses.get(row.name).hyper
    found = {RATE: _nearest(settings.lr, space[RATE])}
    for name in space.keys() - {RATE}:
        value = settings.hyper.get(name, declared[name].default)
        found[name] = _nearest(effective[name] if value is None or isinstance(value, str) else value, space[name])
    return {name: found[name] for name in space}


def _nearest(value: Any, search: Search) -> Any:
    if search.among:
        return value if value in search.among else search.among[0]
    number = float(value) if isinstance(value, int | float) else (search.low + search.high) / 2
    inside = min(max(number, search.low), search.high)
    return round(inside) if search.whole else inside


def tidied(value: Any, search: Search) -> Any:
    """A suggested value, short enough to be read, and still inside its range."""
    if search.among or search.whole:
        return value
    return min(max(rounded(value), float(search.low)), float(search.high))


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
