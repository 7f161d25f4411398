"""The report's page: tables, sentences and pictures in one file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from benchmark.findings import Answer
from benchmark.pages import Choice, Drawn, Facts, NotDrawn, Shown, choices, render
from benchmark.plots import picture_sections
from benchmark.tables import Table

HERE = Path(__file__).parent
BESIDE_TABLES = ("comparison", "geometry")  # the pictures' sections that the template puts beside a table


@dataclass(frozen=True)
class DatasetPart:
    anchor: str
    name: str
    facts: Facts
    table: Shown


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


@dataclass(frozen=True)
class Content:
    """Everything that the page shows."""

    name: str  # of the experiment
    size: str
    answer: Answer
    warning: str
    tuning: str  # where tuned rows come from; empty without any
    metrics: Sequence[Shown]  # the leaderboard first
    differences: Shown | None
    in_short: Sequence[Markup]
    no_differences: str
    geometry: Shown | None
    datasets: Sequence[DatasetPart]
    claims: Sequence[Shown]  # the overview first; none for most experiments
    sections: Sequence[Section]  # none for most experiments
    meanings: Facts
    pictures: Mapping[str, Sequence[Drawn]]  # by their section
    skipped: Sequence[NotDrawn]
    incomplete: Shown | None
    background: Facts
    experiment_file: str
    experiment_text: str
    files: Sequence[str]
    made: str


def report_page(content: Content) -> bytes:
    """The page's file, the same for the same content."""
    beside = {*BESIDE_TABLES, *(section.name for section in content.sections)}
    sections = {name: title for name, title in picture_sections().items() if name not in beside}
    return render(HERE, "page.html.j2", content=content, filters=_filters(content), picture_sections=sections)


def _filters(content: Content) -> dict[str, list[Choice]]:
    """For each table with filters, their choices."""
    metrics: Choice = ("Metric", "metric", [(one.name, one.title) for one in content.metrics])
    found = {"leaderboard": [metrics, *choices(one.table for one in content.metrics)]}
    for part in (content.differences, content.geometry):
        if part is not None:
            found[part.name] = choices([part.table])
    return found
