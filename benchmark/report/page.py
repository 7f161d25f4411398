"""The report's page: tables, sentences and pictures in one file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.pages import Choice, Drawn, Shown, choices, render
from benchmark.plots import names, picture_sections
from benchmark.tables import Table

BESIDE_TABLES = ("comparison", "geometry")  # sections of pictures that the template puts beside a table
LAST = ("embeddings", "training")  # sections of pictures that say least about which loss is better


@dataclass(frozen=True)
class Section:
    """A part that only some experiments have."""

    name: str  # the anchor, the folder of the tables' files and the pictures' section
    title: str
    words: tuple[str, ...]
    tables: tuple[Table, ...]

    @property
    def shown(self) -> list[Shown]:
        return [Shown(table) for table in self.tables]


def report_page(content: Mapping[str, Any]) -> bytes:
    """The page's file, the same for the same content, which `build` lists."""
    beside = {*BESIDE_TABLES, *(section.name for section in content["sections"])}
    titles = {name: title for name, title in picture_sections().items() if name not in beside}
    sections = {name: titles[name] for name in sorted(titles, key=lambda name: name in LAST)}
    metrics: Choice = ("Metric", "metric", [(one.name, one.title) for one in content["metrics"]])
    filters = {"results": [metrics, *choices(one.table for one in content["metrics"])]}
    for part in (content["differences"], content["geometry"]):
        if part is not None:
            filters[part.name] = choices([part.table])
    shown = {"content": content, "filters": filters, "picture_sections": sections}
    return render(Path(__file__).parent, "page.html.j2", **shown, overview=_overview, details=_details)


def _overview(pictures: Sequence[Drawn]) -> list[Drawn]:
    """Those that show all datasets: their plots draw one picture, which has the plot's own name."""
    return [one for one in pictures if one.name in names()]


def _details(pictures: Sequence[Drawn]) -> list[Drawn]:
    return [one for one in pictures if one.name not in names()]
