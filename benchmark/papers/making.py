"""`table PAPER`: runs what a paper's table still needs, writes the table in every format and shows it."""

from dataclasses import replace
from pathlib import Path

from benchmark import running
from benchmark.collected import collect
from benchmark.origin import origin_sentence
from benchmark.papers.comparison import compare_with_published
from benchmark.papers.layout import tables
from benchmark.papers.missing import missing_data, refusal
from benchmark.papers.paper import Paper, Scale
from benchmark.papers.writing import write_tables
from benchmark.tables import as_terminal


def make_table(paper: Paper, scale_name: str, request: running.Request) -> int:
    """The exit status. At full scale all data has to be there; at the others a dataset that is not is left out."""
    scale = paper.scales[scale_name]
    wanted = list(dict.fromkeys(cell.dataset_label for cell in scale.experiment.cells(datasets=request.datasets)))
    absent = missing_data(scale, request.data, wanted)
    present = [label for label in wanted if label not in absent]
    if absent and (scale.name == "full" or not present):
        raise ValueError(refusal(paper, scale, absent))
    for label, reason in absent.items():
        running.say(f"note: {label} is left out: {reason}")
    status = running.run(replace(request, experiment=scale.experiment, datasets=present, show_overview=False))
    show(paper, scale, request.results, absent)
    return status


def show(paper: Paper, scale: Scale, results: Path, absent: dict[str, str] | None = None) -> None:
    """Writes and prints the table of the runs that are stored."""
    collected = collect(scale.experiment, results)
    unfinished = sum(cell.dataset_label not in (absent or {}) for cell in collected.missing)
    made_with = origin_sentence(collected.runs)
    comparison = compare_with_published(
        paper, scale, collected.table, collected.jackknife, absent, unfinished, made_with
    )
    folder = write_tables(comparison, collected.folder / "table")
    for table in tables(comparison):
        print(as_terminal(table) + "\n")
    print(f"table: {folder} (index.html, table.md, table.tex and CSV files)")
