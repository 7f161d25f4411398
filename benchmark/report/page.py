"""The report's page: tables, sentences and pictures in one file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.pages import Choice, Shown, choices, render
from benchmark.plots import picture_sections
from benchmark.tables import Table

BESIDE_TABLES = ("comparison", "geometry")  # the pictures' sections that the template puts beside a table


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
    sections = {name: title for name, title in picture_sections().items() if name not in beside}
    metrics: Choice = ("Metric", "metric", [(one.name, one.title) for one in content["metrics"]])
    filters = {"leaderboard": [metrics, *choices(one.table for one in content["metrics"])]}
    for part in (content["differences"], content["geometry"]):
        if part is not None:
            filters[part.name] = choices([part.table])
    return render(Path(__file__).parent, "page.html.j2", content=content, filters=filters, picture_sections=sections)
