"""`report EXPERIMENT`: from stored results to the files in results/<experiment>/report."""

import time
from dataclasses import dataclass
from pathlib import Path

from benchmark import spec
from benchmark.claims import tables_about
from benchmark.errors import InputError
from benchmark.findings import Answer, Findings
from benchmark.pages.pictures import draw
from benchmark.report.build import PAGE, build
from benchmark.results import ExperimentResults, collect
from datasets._files import write_atomically

OWN_FOLDERS = ("claims", "datasets", "figures", "gradient", "metrics", "scale")
OWN_ENDINGS = (".csv", ".md", ".png", ".svg", ".tex")
OWN_TABLES = ("differences", "geometry")


@dataclass(frozen=True)
class Written:
    page: Path
    answer: Answer


def write_report(experiment: str | Path | spec.Experiment, results: Path, pictures: bool = True) -> Written:
    """Makes the report again from what is stored; ValueError says what to run if there is nothing."""
    collected = collect(spec.load(experiment), results)
    if not collected.runs:
        raise InputError(_nothing(collected))
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    findings = Findings.of_experiment(collected)
    drawn, skipped = draw(collected, findings.common) if pictures else ([], [])
    report = build(collected, findings, made, drawn, skipped, tables_about(collected))
    folder = collected.folder / "report"
    for name, content in report.files.items():
        write_atomically(folder / name, content)
    _remove_stale(folder, set(report.files))
    return Written(folder / PAGE, report.answer)


def _nothing(collected: ExperimentResults) -> str:
    stored = len(list((collected.folder / "runs").glob("[0-9a-f]*")))
    why = f"there are no results of {collected.experiment.name} in {collected.folder}"
    if stored:
        why += f" that still count (the {stored} stored runs are of other settings, losses' files or protocol)"
    if collected.failures:
        first = collected.failures[0][1]
        why += f"; {len(collected.failures)} cells failed, the first is {first.name}: {first.reason}"
    asked = collected.experiment.called
    return f"{why}: run `python -m benchmark run {asked}` first, or name the folder with --results"


def _remove_stale(folder: Path, written: set[str]) -> None:
    """Tables and pictures of an earlier report that this one has not: they would be taken for its own."""
    inside = [path for own in OWN_FOLDERS for path in (folder / own).glob("*")]
    beside = [path for own in OWN_TABLES for path in folder.glob(f"{own}.*")]
    for path in [*inside, *beside]:
        if path.suffix in OWN_ENDINGS and path.relative_to(folder).as_posix() not in written:
            path.unlink()
