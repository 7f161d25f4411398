"""Which plots there are: those defined in this folder, in the order of the report's sections."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmark.errors import InputError
from benchmark.metrics import VERIFICATION
from benchmark.plots._context import Context
from benchmark.plots._picture import SECTIONS, Picture, Skipped
from benchmark.results import ExperimentResults

PACKAGE = __package__
Drawn = Iterator[Picture | Skipped]
EACH_APART = 48
"""The most rows of a picture that has a line or a panel for each: all losses, each as it comes and tuned."""
_plots: dict[str, "Plot"] = {}


@dataclass(frozen=True)
class Plot:
    name: str
    title: str
    section: str
    place: int  # within the section, the lowest first
    most_losses: int | None
    draw: Callable[[Context], Drawn]


def plot(
    title: str, section: str, place: int, most_losses: int | None = None
) -> Callable[[Callable[[Context], Drawn]], Callable[[Context], Drawn]]:
    """Registers the function as the plot of its file's name; of more rows than `most_losses` it is not drawn."""

    def register(draw: Callable[[Context], Drawn]) -> Callable[[Context], Drawn]:
        if section not in SECTIONS:
            raise InputError(f"there is no section {section!r} for {draw.__module__}; expected one of {list(SECTIONS)}")
        name = draw.__module__.rpartition(".")[2]
        _plots[name] = Plot(name, title, section, place, most_losses, draw)
        return draw

    return register


def names() -> list[str]:
    """The names of all plots, in the order in which they are drawn."""
    return [one.name for one in _all()]


def draw_all(collected: ExperimentResults, metric: str = VERIFICATION.key) -> Drawn:
    """Every picture of an experiment, and every one that cannot be drawn, in the order of the sections.

    `metric` is the figure by which losses are compared: it decides which is best.
    """
    material = Context(collected, metric)
    for one in _all():
        if reason := _why_not(one, material):
            yield Skipped(one.name, one.title, reason, one.section)
        else:
            yield from one.draw(material)


def _why_not(one: Plot, material: Context) -> str:
    """The reason, or nothing where it can be drawn as far as can be told from outside."""
    if not len(material.table):
        return "the experiment has no stored run"
    rows = len(material.losses)
    if one.most_losses is not None and rows > one.most_losses:
        return f"{rows} rows are too many to tell apart in one picture; up to {one.most_losses} are drawn"
    return ""


def _all() -> list[Plot]:
    for module in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{PACKAGE}.{module.name}")
    order = list(SECTIONS)
    return sorted(_plots.values(), key=lambda one: (order.index(one.section), one.place, one.name))
