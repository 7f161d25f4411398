"""Pictures in a page: inlined as PNG as long as the page stays small, and kept beside it as PNG and SVG."""

import base64
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from benchmark.metrics import MetricColumn
from benchmark.plots import Picture, as_png, as_svg, draw_all
from benchmark.results import ExperimentResults

LARGEST_TOTAL = 10 * 2**20  # bytes of inlined pictures; base64 makes a third more of them


@dataclass(frozen=True)
class Drawn:
    """A picture that was drawn and saved."""

    name: str  # of its files
    title: str
    caption: str
    section: str
    png: bytes
    svg: bytes
    alt: str = ""  # what someone who cannot see it must know

    @property
    def source(self) -> str:
        """What an <img> shows without any other file."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, from the PNG's header."""
        width, height = struct.unpack(">II", self.png[16:24])
        return width, height


@dataclass(frozen=True)
class NotDrawn:
    title: str
    reason: str


def draw(collected: ExperimentResults, metric: MetricColumn | None) -> tuple[list[Drawn], list[NotDrawn]]:
    """Every picture, and every one that cannot be drawn with the reason; losses are compared by `metric`, or
    by verification accuracy."""
    drawn: list[Drawn] = []
    skipped: list[NotDrawn] = []
    for item in draw_all(collected, metric.key if metric else None):
        if isinstance(item, Picture):
            svg = as_svg(item.figure, item.title, item.alt)
            drawn.append(Drawn(item.name, item.title, item.words, item.section, as_png(item.figure), svg, item.alt))
        else:
            skipped.append(NotDrawn(item.title, item.reason))
    return drawn, skipped


def that_fit(pictures: Iterable[Drawn], largest: int = LARGEST_TOTAL) -> tuple[list[Drawn], list[NotDrawn]]:
    """The pictures for the page, and those left out to keep it small."""
    fitting: list[Drawn] = []
    left_out: list[NotDrawn] = []
    for one in pictures:
        if sum(len(other.png) for other in fitting) + len(one.png) <= largest:
            fitting.append(one)
        else:
            left_out.append(NotDrawn(one.title, f"left out to keep the page small; it is in figures/{one.name}.png"))
    return fitting, left_out
