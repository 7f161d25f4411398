"""The page: tables, sentences and pictures put into one HTML file that needs no other."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from benchmark.findings.answer import Answer
from benchmark.plots import picture_sections
from benchmark.report.pictures import Drawn, NotDrawn
from benchmark.tables import Table, as_csv, as_html, as_latex, as_markdown
from benchmark.tables.model import visible

HERE = Path(__file__).parent
BESIDE_TABLES = ("comparison", "geometry")  # the pictures' sections that the template puts beside a table
Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Shown:
    """A table as the template shows it."""

    table: Table

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def title(self) -> str:
        return visible(self.table.title)

    @property
    def html(self) -> Markup:
        return as_html(self.table)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """To copy from."""
        return [
            ("as Markdown", as_markdown(self.table)),
            ("as LaTeX", as_latex(self.table)),
            ("as CSV", as_csv(self.table)),
        ]


@dataclass(frozen=True)
class DatasetPart:
    anchor: str
    name: str
    facts: Facts
    table: Shown


@dataclass(frozen=True)
class SectionPart:
    """A section that only some experiments have."""

    name: str
    title: str
    words: Sequence[str]
    tables: Sequence[Shown]
    pictures: Sequence[Drawn]


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
    sections: Sequence[SectionPart]  # none for most experiments
    meanings: Facts
    pictures: Mapping[str, Sequence[Drawn]]  # by their section
    skipped: Sequence[NotDrawn]
    incomplete: Shown | None
    background: Facts
    experiment_file: str
    experiment_text: str
    files: Sequence[str]
    made: str


def render(content: Content) -> str:
    """The page's text, the same for the same content."""
    beside = {*BESIDE_TABLES, *(section.name for section in content.sections)}
    script, style = (HERE / "page.js").read_text(), (HERE / "page.css").read_text()
    return (
        environment(HERE)
        .get_template("page.html.j2")
        .render(
            content=content,
            filters=_filters(content),
            picture_sections={name: title for name, title in picture_sections().items() if name not in beside},
            policy=policy(script, style),
            script=Markup(script),  # the project's own files, not escaped
            style=Markup(style),
        )
    )


@cache
def environment(folder: Path) -> jinja2.Environment:
    """Templates of a folder, in which whatever is filled in is escaped and nothing may be left unfilled."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def policy(script: str, style: str) -> str:
    """Nothing may be fetched from anywhere, and no script runs but the page's own."""
    return (
        f"default-src 'none'; img-src data:; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _filters(content: Content) -> dict[str, Any]:
    """For each table with filters: label, attribute and options of every choice."""
    metrics = ("Metric", "metric", [(one.name, one.title) for one in content.metrics])
    found = {"leaderboard": [metrics, *choices(one.table for one in content.metrics)]}
    for part in (content.differences, content.geometry):
        if part is not None:
            found[part.name] = choices([part.table])
    return found


def choices(
    tables: Iterable[Table], kinds: Sequence[tuple[str, str]] = (("Dataset", "dataset"), ("Family", "family"))
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """The datasets, families and so on that rows and columns are tagged with; `kinds` are labels and tags."""
    tagged: list[Mapping[str, str]] = []
    for table in tables:
        tagged += [column.tags for column in table.columns] + [row.tags for row in table.rows]
    found = []
    for label, name in kinds:
        values = list(dict.fromkeys(visible(tags[name]) for tags in tagged if name in tags))
        found.append((label, name, [("", "all"), *((value, value) for value in values)]))
    return found
