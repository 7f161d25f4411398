"""`table PAPER`: runs the cells that have no result, writes the table in every format and prints it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from benchmark import run_experiment
from benchmark.errors import InputError
from benchmark.options import RunOptions
from benchmark.papers.comparison import Comparison, compare_with_published
from benchmark.papers.data_check import Supply, refusal, supply_of
from benchmark.papers.layout import tables
from benchmark.papers.paper import Paper, Scale
from benchmark.provenance import provenance_sentence
from benchmark.results import collect
from benchmark.tables import Table, as_csv, as_html, as_latex, as_markdown, as_terminal
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


def measured_at(scale: str, papers: Sequence[Paper]) -> list[Paper]:
    """Those of which something is measured at this scale, with a note on the others; `InputError` if none is left."""
    reasons = [
        f"{paper.name} at scale {scale}: nothing is measured, because {paper.published_only[scale]}; "
        "--scale cpu shows what was published beside what is measured on small data"
        for paper in papers
        if scale in paper.published_only
    ]
    if len(reasons) == len(papers):
        raise InputError("\n".join(reasons))
    for reason in reasons:
        run_experiment.say(f"note: {reason}")
    return [paper for paper in papers if scale in paper.scales]


def make_tables(papers: Sequence[Paper], scale_name: str, options: RunOptions) -> int:
    """Makes the tables; the worst exit status. Refuses before the first one if data of any table is missing."""
    papers = measured_at(scale_name, papers)
    supplies = [supply_of(paper, paper.scales[scale_name], options.data, options.datasets) for paper in papers]
    lacking = [supply for supply in supplies if supply.too_little]
    if lacking:
        raise InputError(refusal(lacking))
    return max(_make(supply, options) for supply in supplies)


def _make(supply: Supply, options: RunOptions) -> int:
    paper, scale = supply.paper, supply.scale
    for label, reason in supply.absent.items():
        run_experiment.say(f"note: {label} is left out: {reason}")
    status = run_experiment.run(scale.experiment, replace(options, datasets=supply.present), overview=False)
    show(paper, scale, options.results, supply.absent)
    return status


def show(paper: Paper, scale: Scale, results: Path, absent: dict[str, str] | None = None) -> None:
    """Writes and prints the table of the runs that are stored."""
    collected = collect(scale.experiment, results)
    unfinished = sum(cell.dataset_label not in (absent or {}) for cell in collected.missing)
    comparison = compare_with_published(
        paper, scale, collected.table, collected.jackknife, absent, unfinished, provenance_sentence(collected.runs)
    )
    folder = write_tables(comparison, collected.folder / "table")
    for table in tables(comparison):
        print(as_terminal(table) + "\n")
    print(f"table: {folder} (index.html, table.md, table.tex and CSV files)")


def write_tables(comparison: Comparison, folder: Path) -> Path:
    """One page, one Markdown and one LaTeX file, and a CSV file for each table; each whole or not at all."""
    made = tables(comparison)
    write_atomically(folder / "index.html", _page(made, comparison.paper.title).encode())
    write_atomically(folder / "table.md", "\n".join(as_markdown(table) for table in made).encode())
    write_atomically(folder / "table.tex", "\n".join(as_latex(table) for table in made).encode())
    for table in tables(comparison, sources=True):
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
