"""Makes the files in results/<experiment>/report from stored runs: tables in three formats, pictures, the page."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark import spec
from benchmark.claims import tables_about
from benchmark.errors import InputError
from benchmark.findings import (
    Answer,
    Findings,
    about_losses,
    answer,
    by_metric,
    differences,
    in_short,
    main_table,
    settings_table,
    why_no_differences,
)
from benchmark.metrics import columns, has_value, measured
from benchmark.pages import Drawn, NotDrawn, Shown
from benchmark.pages.pictures import draw, that_fit
from benchmark.plots import picture_sections
from benchmark.report.facts import (
    background,
    dataset_facts,
    experiment_text,
    number_of_classes,
    overrides_in_words,
    runs_of,
    scale_and_margin,
    tuning_in_words,
)
from benchmark.report.gradients import gradients
from benchmark.report.page import Section, report_page
from benchmark.report.scale_or_margin import scale_or_margin
from benchmark.report.tables import details, geometry, incomplete
from benchmark.results import ExperimentResults, collect
from benchmark.tables import Table, as_csv, as_latex, as_markdown
from benchmark.text import counted
from datasets._files import write_atomically

PAGE = "index.html"
OWN_FOLDERS = ("claims", "datasets", "figures", "gradient", "metrics", "scale")
OWN_ENDINGS = (".csv", ".md", ".png", ".svg", ".tex")
OWN_TABLES = ("differences", "geometry", "settings")


@dataclass(frozen=True)
class Report:
    """The files, by their place in the report's folder."""

    files: Mapping[str, bytes]
    answer: Answer


def build(
    collected: ExperimentResults,
    findings: Findings,
    made: str,
    drawn: Sequence[Drawn] = (),
    skipped: Sequence[NotDrawn] = (),
    claims: Sequence[Table] = (),
) -> Report:
    """The same results and pictures give the same files, except for `made`, the date. `claims` are the tables of the
    claims that use this experiment, the overview first."""
    tables = Tables.of(collected, findings)
    files: dict[str, bytes] = {}
    sections = sections_of(collected, findings)
    places = tables.by_place | {f"claims/{table.name}": table for table in claims}
    places |= {f"{section.name}/{table.name}": table for section in sections for table in section.tables}
    for place, table in places.items():
        files |= {f"{place}.md": as_markdown(table).encode(), f"{place}.tex": as_latex(table).encode()}
        files[f"{place}.csv"] = as_csv(table).encode()
    for one in drawn:
        files |= {f"figures/{one.name}.png": one.png, f"figures/{one.name}.svg": one.svg}
    fitting, left_out = that_fit(drawn)
    said = answer(findings)
    content = {
        "name": collected.experiment.name,
        "size": _size(collected, findings),
        "answer": said,
        "warning": _warning(collected),
        "overrides": overrides_in_words(collected.experiment),
        "tuning": tuning_in_words(collected.experiment),
        "metrics": [Shown(table) for table in (tables.main, *tables.metrics)],
        "settings": Shown(tables.settings),
        "differences": None if tables.differences is None else Shown(tables.differences),
        "in_short": [] if tables.differences is None else in_short(findings),
        "no_differences": why_no_differences(findings),
        "geometry": None if tables.geometry is None else Shown(tables.geometry),
        "datasets": [
            {"name": name, "facts": dataset_facts(collected, name), "table": Shown(table)}
            for name, table in tables.datasets.items()
        ],
        "claims": [Shown(table) for table in claims],
        "sections": sections,
        "meanings": [
            (column.heading, column.meaning) for column in columns() if has_value(collected.table, column.key)
        ],
        "pictures": {name: [one for one in fitting if one.section == name] for name in picture_sections()},
        "skipped": [*skipped, *left_out],
        "incomplete": Shown(tables.incomplete) if tables.incomplete.rows else None,
        "background": background(collected),
        "experiment_file": collected.experiment.path.name,
        "experiment_text": experiment_text(collected),
        "files": list(files),
        "made": made,
    }
    return Report({PAGE: report_page(content), **files}, said)


@dataclass(frozen=True)
class Tables:
    """Every table of the report."""

    main: Table
    metrics: list[Table]
    settings: Table
    differences: Table | None
    geometry: Table | None
    datasets: dict[str, Table]
    incomplete: Table

    @classmethod
    def of(cls, collected: ExperimentResults, findings: Findings) -> "Tables":
        losses = about_losses(collected.table)
        runs = {dataset: runs_of(collected, dataset) for dataset in findings.datasets}
        classes = {dataset: number_of_classes(of_dataset) for dataset, of_dataset in runs.items()}
        return cls(
            main=_with_overrides(main_table(findings, losses), collected.experiment),
            metrics=[by_metric(findings, losses, column) for column in measured(collected.table, "performance")],
            settings=settings_table(losses),
            differences=None if why_no_differences(findings) else differences(findings, losses),
            geometry=geometry(findings, losses, classes) if measured(collected.table, "geometry") else None,
            datasets={
                dataset: details(findings, losses, dataset, name, scale_and_margin(runs[dataset]))
                for dataset, name in file_names(findings.datasets).items()
            },
            incomplete=incomplete(collected),
        )

    @property
    def by_place(self) -> dict[str, Table]:
        """By file name, without ending."""
        found = {"table": self.main, "settings": self.settings}
        found |= {table.name: table for table in (self.differences, self.geometry) if table is not None}
        found |= {f"metrics/{table.name}": table for table in self.metrics}
        names = file_names(list(self.datasets))
        found |= {f"datasets/{names[dataset]}": table for dataset, table in self.datasets.items()}
        return found | ({"incomplete": self.incomplete} if self.incomplete.rows else {})


def _with_overrides(table: Table, experiment: spec.Experiment) -> Table:
    """Said in the table itself too, since its files are copied elsewhere."""
    said = overrides_in_words(experiment)
    return replace(table, footnotes=(*table.footnotes, said)) if said else table


def file_names(labels: Sequence[str]) -> dict[str, str]:
    """For each label a name of lower-case letters, digits and hyphens, different from the others'."""
    found: dict[str, str] = {}
    for label in labels:
        plain = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:50] or "dataset"
        name, count = plain, 1
        while name in found.values():
            count += 1
            name = f"{plain}-{count}"
        found[label] = name
    return found


def sections_of(collected: ExperimentResults, findings: Findings) -> list[Section]:
    """The sections for experiments that vary scale, margin or gradient."""
    found = (make(collected, findings) for make in (scale_or_margin, gradients))
    return [section for section in found if section is not None]


def _size(collected: ExperimentResults, findings: Findings) -> str:
    sizes = {"dataset": len(findings.datasets), "loss": len(findings.losses)}
    sizes |= {"seed": collected.table["seed"].nunique(), "run": collected.trained}
    return ", ".join(counted(count, noun) for noun, count in sizes.items())


def _warning(collected: ExperimentResults) -> str:
    """How many cells have no sound result; empty if all have one."""
    failed = len(collected.failures)
    counts = {"diverged": (collected.table["status"] == "diverged").sum(), "failed": failed}
    counts |= {"not run yet": len(collected.missing) - failed, "damaged": len(collected.damaged)}
    parts = [f"{count:,} {what}" for what, count in counts.items() if count]
    return f"Some cells have no sound result: {', '.join(parts)}." if parts else ""


@dataclass(frozen=True)
class Written:
    page: Path
    answer: Answer


def write_report(experiment: str | Path | spec.Experiment, results: Path, pictures: bool = True) -> Written:
    """Writes the report of the stored runs; if there are none, ValueError says which command makes them."""
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
        runs = f"{counted(stored, 'stored run')} {'has' if stored == 1 else 'have'}"
        why += f" for its present settings ({runs} other settings, loss code or protocol)"
    if collected.failures:
        first = collected.failures[0][1]
        why += f"; {counted(len(collected.failures), 'cell')} failed, the first is {first.name}: {first.reason}"
    asked = collected.experiment.called
    return f"{why}: run `python -m benchmark run {asked}` first, or name the folder with --results"


def _remove_stale(folder: Path, written: set[str]) -> None:
    """Deletes tables and pictures of an earlier report that this one does not have."""
    inside = [path for own in OWN_FOLDERS for path in (folder / own).glob("*")]
    beside = [path for own in OWN_TABLES for path in folder.glob(f"{own}.*")]
    for path in [*inside, *beside]:
        if path.suffix in OWN_ENDINGS and path.relative_to(folder).as_posix() not in written:
            path.unlink()
