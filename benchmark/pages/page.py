"""Renders a template to one HTML file that needs no other: style and script are inside it."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from benchmark.tables import Table, as_csv, as_html, as_latex, as_markdown
from benchmark.tables.model import visible

HERE = Path(__file__).parent
Facts = Sequence[tuple[str, str]]  # label → value
Choice = tuple[str, str, list[tuple[str, str]]]
"""A filter: its label, the attribute that it filters by, and its options as value and text."""


def render(folder: Path, template: str, **shown: Any) -> bytes:
    """The page as bytes. All values are escaped, except for the project's own style and script.

    Style and script are the shared ones and, after them, those of the template's folder.
    """
    script, style = _joined(folder, "js"), _joined(folder, "css")
    parts = {"policy": _policy(script, style), "script": Markup(script), "style": Markup(style), **shown}
    return _environment(folder).get_template(template).render(parts).encode()


@cache
def _joined(folder: Path, ending: str) -> str:
    files = [HERE / f"page.{ending}", *sorted(folder.glob(f"*.{ending}"))]
    return "".join(file.read_text(encoding="utf-8") for file in files)


@cache
def _environment(folder: Path) -> jinja2.Environment:
    """Templates of a folder; values are escaped, and a missing value is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _policy(script: str, style: str) -> str:
    """The page may fetch nothing and run no script except its own."""
    return (
        f"default-src 'none'; img-src data:; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def json_for_a_page(text: str) -> Markup:
    """JSON that cannot end the <script> element that contains it."""
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)


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
        """The table as text, to copy."""
        return [
            ("as Markdown", as_markdown(self.table)),
            ("as LaTeX", as_latex(self.table)),
            ("as CSV", as_csv(self.table)),
        ]


def choices(
    tables: Iterable[Table], kinds: Sequence[tuple[str, str]] = (("Dataset", "dataset"), ("Family", "family"))
) -> list[Choice]:
    """Filters for the tags of rows and columns, such as dataset and family; `kinds` are labels and tags."""
    tagged: list[Mapping[str, str]] = []
    for table in tables:
        tagged += [column.tags for column in table.columns] + [row.tags for row in table.rows]
    found = []
    for label, name in kinds:
        values = list(dict.fromkeys(visible(tags[name]) for tags in tagged if name in tags))
        found.append((label, name, [("", "all"), *((value, value) for value in values)]))
    return found
