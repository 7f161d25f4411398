"""Which plots there are, in the order of the report's sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmark.plots._context import Context
from benchmark.plots._picture import SECTIONS, Picture, Skipped
from benchmark.results import ExperimentResults
from datasets._registry import Registry

Drawn = Iterator[Picture | Skipped]
EACH_APART = 48
"""The most rows of a picture that has a line or a panel for each: all losses, each as it comes and tuned."""
PLOTS: Registry[Plot] = Registry("plot", __package__, "marginbench.plots")


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
        name = draw.__module__.rpartition(".")[2]
        PLOTS.add(name, Plot(name, title, section, place, most_losses, draw), draw)
        return draw

    return register


def names() -> list[str]:
    """The names of all plots, in the order in which they are drawn."""
    return [one.name for one in _all()]


def picture_sections() -> dict[str, str]:
    """The sections of a report with their headings; one that only a plot names comes last, under its own name."""
    return SECTIONS | {one.section: one.section for one in _all() if one.section not in SECTIONS}


def draw_all(collected: ExperimentResults, metric: str | None = None) -> Drawn:
    """Every picture of an experiment, and every one that cannot be drawn, in the order of the sections.

    `metric` is the metric by which losses are compared: it decides which is best.
    """
    material = Context(collected, metric) if metric else Context(collected)
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
    place = {section: number for number, section in enumerate(SECTIONS)}
    return sorted(
        PLOTS.items().values(), key=lambda one: (place.get(one.section, len(place)), one.section, one.place, one.name)
    )
