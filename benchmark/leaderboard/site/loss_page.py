"""A loss's own page: what it is, what the audit found, what it reached, and against whom."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.site.index import settings_of
from benchmark.leaderboard.site.loss_tables import audit_table, hyper_table, result_tables, seed_table
from benchmark.leaderboard.standings import Board
from benchmark.leaderboard.text import differences_of, ties_of
from benchmark.metrics import columns
from benchmark.pages import Drawn, Facts, NotDrawn, Shown, render
from benchmark.spec.labels import with_settings
from benchmark.tables.model import visible

BEGINNINGS = ("Paper:", "Good for:")
ARXIV = re.compile(r"arXiv:([0-9]{4}\.[0-9]{4,5})")


def loss_page(entry: Entry, board: Board, drawn: Sequence[Drawn | NotDrawn], apart: str) -> bytes:
    """`apart` says why the entry is not in today's standings, or nothing."""
    formula, *paragraphs = paragraphs_of(entry.description) or [Paragraph(("no description",), is_aligned=False)]
    against = differences_of(board, entry)
    return render(
        Path(__file__).parent,
        "loss.html.j2",
        here="loss",
        up="../",
        entry=entry,
        settings=settings_of(entry),
        place=f"place {board.order.index(entry.label) + 1} of {len(board.order)}",
        apart=apart,
        formula=formula,
        paragraphs=paragraphs,
        hyper=Shown(hyper_table(entry)) if entry.settings else None,
        audit=Shown(audit_table(entry)),
        results=[Shown(table) for table in result_tables(entry, board)],
        seeds=Shown(seed_table(entry, board)),
        differences=None if isinstance(against, str) else Shown(against),
        no_differences=against if isinstance(against, str) else "",
        ties=ties_of(board, entry),
        pictures=[one for one in drawn if isinstance(one, Drawn)],
        not_drawn=[one for one in drawn if isinstance(one, NotDrawn)],
        meanings=[(column.heading, column.meaning) for column in columns() if column.key in board.findings.results],
        background=_background(entry),
    )


@dataclass(frozen=True)
class Paragraph:
    """Of a docstring: running text, a line for each of its parts, or lines whose columns are to stay aligned."""

    lines: tuple[str, ...]
    is_aligned: bool

    @property
    def html(self) -> list[Markup]:
        return [_with_links(line) for line in self.lines]


def paragraphs_of(description: str) -> list[Paragraph]:
    found = []
    for part in re.split(r"\n\s*\n", description.strip("\n")):
        lines = [line.rstrip() for line in part.splitlines() if line.strip()]
        is_aligned = any(re.search(r"\S  +\S", line) for line in lines)
        if lines:
            found.append(Paragraph(tuple(lines) if is_aligned else tuple(_joined(lines)), is_aligned))
    return found


def _joined(lines: list[str]) -> list[str]:
    """Broken lines put together again; `Paper:` and `Good for:` begin lines of their own."""
    found = [lines[0].strip()]
    for line in lines[1:]:
        if line.lstrip().startswith(BEGINNINGS):
            found.append(line.strip())
        else:
            found[-1] += f" {line.strip()}"
    return found


def _with_links(line: str) -> Markup:
    """A line with its arXiv numbers as links."""
    link = r'<a href="https://arxiv.org/abs/\1" rel="noreferrer">\g<0></a>'
    return Markup(ARXIV.sub(link, str(escape(visible(line)))))


def _background(entry: Entry) -> Facts:
    source = f"losses/{entry.loss}.py" if entry.origin == "repository" else "a plug-in"
    facts = [
        ("Entry", f"{entry.name}.json, of {entry.date}"),
        ("Source", f"{source}, digest {entry.loss_digest[:16]}"),
        ("Protocol", str(entry.protocol)),
        ("Made with", ", ".join(f"{name} {version}" for name, version in entry.versions.items())),
    ]
    for result in entry.results:
        recipe = {name: value for name, value in result.recipe.items() if value != []}
        trained = with_settings(f"{result.backbone} dim={result.dim}", recipe)
        facts.append((f"Training on {result.label}", trained))
        facts.append((f"Data of {result.label}", f"digest {result.digest[:16]}"))
    return facts
