"""The tables of a paper as files: one page, one Markdown and one LaTeX file, and a CSV file for each table."""

from pathlib import Path

from markupsafe import Markup

from benchmark.papers.comparison import Comparison
from benchmark.papers.layout import for_spreadsheets, tables
from benchmark.tables import Table, as_csv, as_html, as_latex, as_markdown
from benchmark.tables.model import visible
from datasets._files import write_atomically

STYLE = Markup(
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1a1a1a}"
    ".wide{overflow-x:auto}table{border-collapse:collapse}caption{text-align:left;padding-bottom:.5rem}"
    "th,td{padding:.25rem .75rem;border-bottom:1px solid #ddd;text-align:left;white-space:nowrap}"
    ".number{text-align:right;font-variant-numeric:tabular-nums}"
    "thead th{border-bottom:2px solid #555;white-space:normal;vertical-align:bottom}"
    "tbody th{font-weight:normal}ul.notes{list-style:none;padding:0;font-size:.9rem;color:#444}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}ul.notes{color:#bbb}th,td{border-color:#444}}"
)


def write_tables(comparison: Comparison, folder: Path) -> Path:
    """Each file appears whole or not at all; the folder is given back."""
    made = tables(comparison)
    write_atomically(folder / "index.html", _page(made, comparison.paper.title).encode())
    write_atomically(folder / "table.md", "\n".join(as_markdown(table) for table in made).encode())
    write_atomically(folder / "table.tex", "\n".join(as_latex(table) for table in made).encode())
    for table in for_spreadsheets(comparison):
        write_atomically(folder / f"{table.name}.csv", as_csv(table).encode())
    return folder


def _page(made: list[Table], title: str) -> str:
    heading = Markup("<h{0}>{1}</h{0}>\n{2}")  # the paper's table first, what is said about it below
    parts = [heading.format(min(place, 2), visible(table.title), as_html(table)) for place, table in enumerate(made, 1)]
    return str(
        Markup(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            "<title>{}</title><style>{}</style></head>\n<body><main>\n{}\n</main></body></html>\n"
        ).format(visible(title), STYLE, Markup("\n").join(parts))
    )
