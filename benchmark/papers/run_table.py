"""`table PAPER`: runs what a paper's table still needs, writes the table in every format and shows it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmark import run_experiment
from benchmark.errors import InputError
from benchmark.options import RunOptions
from benchmark.papers.comparison import compare_with_published
from benchmark.papers.data_check import Supply, refusal, supply_of
from benchmark.papers.layout import tables
from benchmark.papers.paper import Paper, Scale
from benchmark.papers.table_files import write_tables
from benchmark.provenance import provenance_sentence
from benchmark.results import collect
from benchmark.tables import as_terminal


def make_tables(papers: Sequence[Paper], scale_name: str, options: RunOptions) -> int:
    """The worst exit status. What any of the tables lacks to begin is known, and refused, before one begins."""
    supplies = [supply_of(paper, paper.scales[scale_name], options.data, options.datasets) for paper in papers]
    lacking = [supply for supply in supplies if supply.too_little]
    if lacking:
        raise InputError(refusal(lacking))
    return max(_make(supply, options) for supply in supplies)


def make_table(paper: Paper, scale_name: str, options: RunOptions) -> int:
    """The exit status. At full scale all data has to be there; at the others a dataset that is not is left out."""
    return make_tables([paper], scale_name, options)


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
    made_with = provenance_sentence(collected.runs)
    comparison = compare_with_published(
        paper, scale, collected.table, collected.jackknife, absent, unfinished, made_with
    )
    folder = write_tables(comparison, collected.folder / "table")
    for table in tables(comparison):
        print(as_terminal(table) + "\n")
    print(f"table: {folder} (index.html, table.md, table.tex and CSV files)")
