"""Which plots there are: those defined in this folder, in the order of the report's sections."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmark.collected import Collected
from benchmark.columns import VERIFICATION
from benchmark.plots._material import Material
from benchmark.plots._picture import SECTIONS, Picture, Skipped

PACKAGE = "benchmark.plots"
Drawn = Iterator[Picture | Skipped]
_plots: dict[str, "Plot"] = {}


@dataclass(frozen=True)
class Plot:
    name: str
    title: str
    section: str
    place: int  # within the section, the lowest first
    draw: Callable[[Material], Drawn]


def plot(title: str, section: str, place: int) -> Callable[[Callable[[Material], Drawn]], Callable[[Material], Drawn]]:
    """Registers the function as the plot of its file's name."""

    def register(draw: Callable[[Material], Drawn]) -> Callable[[Material], Drawn]:
        if section not in SECTIONS:
            raise ValueError(f"there is no section {section!r} for {draw.__module__}; expected one of {list(SECTIONS)}")
        name = draw.__module__.rpartition(".")[2]
        _plots[name] = Plot(name, title, section, place, draw)
        return draw

    return register


def names() -> list[str]:
    """The names of all plots, in the order in which they are drawn."""
    return [one.name for one in _all()]


def draw_all(collected: Collected, metric: str = VERIFICATION.key) -> Drawn:
    """Every picture of an experiment, and every one that cannot be drawn, in the order of the sections.

    `metric` is the figure by which losses are compared: it decides which is best.
    """
    material = Material(collected, metric)
    for one in _all():
        if len(material.table):
            yield from one.draw(material)
        else:
            yield Skipped(one.name, one.title, "the experiment has no stored run", one.section)


def _all() -> list[Plot]:
    for module in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{PACKAGE}.{module.name}")
    order = list(SECTIONS)
    return sorted(_plots.values(), key=lambda one: (order.index(one.section), one.place, one.name))
