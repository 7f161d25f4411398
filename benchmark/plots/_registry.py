"""Which plots there are, in the order of the report's sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps

from benchmark.plots._context import Context
from benchmark.plots._picture import SECTIONS, NothingToDrawError, Picture, Skipped
from benchmark.results import ExperimentResults
from datasets._registry import Registry

Drawn = Iterator[Picture | Skipped]
EACH_APART = 48
"""The most rows of a picture that has a line or a panel for each: every loss twice, untuned and tuned."""
PLOTS: Registry[Plot] = Registry("plot", __package__, "marginbench.plots")


@dataclass(frozen=True)
class Plot:
    name: str
    title: str
    section: str
    place: int  # within the section, the lowest first
    draw: Callable[[Context], Drawn]


def plot(
    title: str, section: str, place: int, most_losses: int | None = None
) -> Callable[[Callable[[Context], Drawn]], Callable[[Context], Drawn]]:
    """Registers the function as the plot of its file's name. It is skipped where there is no run, where there are more
    rows than `most_losses`, and where the function raises NothingToDrawError."""

    def register(draw: Callable[[Context], Drawn]) -> Callable[[Context], Drawn]:
        name = draw.__module__.rpartition(".")[2]

        @wraps(draw)
        def draw_or_skip(context: Context) -> Drawn:
            try:
                if not len(context.table):
                    raise NothingToDrawError("the experiment has no stored run")
                if most_losses is not None and (rows := len(context.losses)) > most_losses:
                    raise NothingToDrawError(f"{rows} rows are too many for one picture; it can show {most_losses}")
                yield from draw(context)
            except NothingToDrawError as reason:
                yield Skipped(name, title, str(reason), section)

        PLOTS.add(name, Plot(name, title, section, place, draw_or_skip), draw)
        return draw_or_skip

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
    context = Context(collected, metric) if metric else Context(collected)
    for one in _all():
        yield from one.draw(context)


def _all() -> list[Plot]:
    place = {section: number for number, section in enumerate(SECTIONS)}
    return sorted(
        PLOTS.items().values(), key=lambda one: (place.get(one.section, len(place)), one.section, one.place, one.name)
    )
