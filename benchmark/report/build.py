"""From an experiment's results to the report's files: every table in three formats, pictures, and the page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.findings import (
    Answer,
    Findings,
    about_losses,
    answer,
    by_metric,
    differences,
    in_short,
    main_table,
    why_no_differences,
)
from benchmark.metrics import columns, has_value, measured
from benchmark.pages import Drawn, NotDrawn, Shown
from benchmark.pages.pictures import that_fit
from benchmark.plots import picture_sections
from benchmark.report.about_datasets import dataset_facts, number_of_classes, runs_of, scale_and_margin
from benchmark.report.background import background, experiment_text, tuning_in_words
from benchmark.report.details import details
from benchmark.report.geometry import geometry
from benchmark.report.gradients import gradients
from benchmark.report.incomplete import incomplete
from benchmark.report.page import Content, DatasetPart, Section, report_page
from benchmark.report.scale_or_margin import scale_or_margin
from benchmark.results import ExperimentResults
from benchmark.tables import Table, as_csv, as_latex, as_markdown
from benchmark.text import counted

PAGE = "index.html"


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
    """The same results and pictures give the same files but for `made`, the date. `claims` is the ledger of the claims
    that rest on the experiment, its overview first."""
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
    content = Content(
        name=collected.experiment.name,
        size=_size(collected, findings),
        answer=said,
        warning=_warning(collected),
        tuning=tuning_in_words(collected.experiment),
        metrics=[Shown(tables.main), *(Shown(table) for table in tables.metrics)],
        differences=None if tables.differences is None else Shown(tables.differences),
        in_short=[] if tables.differences is None else in_short(findings),
        no_differences=why_no_differences(findings),
        geometry=None if tables.geometry is None else Shown(tables.geometry),
        datasets=_dataset_parts(collected, tables),
        claims=[Shown(table) for table in claims],
        sections=sections,
        meanings=[(column.heading, column.meaning) for column in columns() if has_value(collected.table, column.key)],
        pictures={name: [one for one in fitting if one.section == name] for name in picture_sections()},
        skipped=[*skipped, *left_out],
        incomplete=Shown(tables.incomplete) if tables.incomplete.rows else None,
        background=background(collected),
        experiment_file=collected.experiment.path.name,
        experiment_text=experiment_text(collected),
        files=list(files),
        made=made,
    )
    return Report({PAGE: report_page(content), **files}, said)


@dataclass(frozen=True)
class Tables:
    """Every table of the report."""

    main: Table
    metrics: list[Table]
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
            main=main_table(findings, losses),
            metrics=[by_metric(findings, losses, column) for column in measured(collected.table, "performance")],
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
        """By the name of the files, without their endings."""
        found = {"table": self.main}
        found |= {table.name: table for table in (self.differences, self.geometry) if table is not None}
        found |= {f"metrics/{table.name}": table for table in self.metrics}
        names = file_names(list(self.datasets))
        found |= {f"datasets/{names[dataset]}": table for dataset, table in self.datasets.items()}
        return found | ({"incomplete": self.incomplete} if self.incomplete.rows else {})


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
    """Those that the experiment's shape asks for."""
    found = (make(collected, findings) for make in (scale_or_margin, gradients))
    return [section for section in found if section is not None]


def _dataset_parts(collected: ExperimentResults, tables: Tables) -> list[DatasetPart]:
    return [
        DatasetPart(f"on-{table.name}", dataset, dataset_facts(runs_of(collected, dataset)), Shown(table))
        for dataset, table in tables.datasets.items()
    ]


def _size(collected: ExperimentResults, findings: Findings) -> str:
    parts = [
        counted(len(findings.datasets), "dataset"),
        counted(len(findings.losses), "loss"),
        counted(collected.table["seed"].nunique(), "seed"),
        counted(len(collected.runs), "run"),
    ]
    return ", ".join(parts)


def _warning(collected: ExperimentResults) -> str:
    """What a reader must know before trusting the answer."""
    diverged = int((collected.table["status"] == "diverged").sum())
    failed = len(collected.failures)
    counts = {
        "diverged": diverged,
        "failed": failed,
        "not run yet": len(collected.missing) - failed,
        "damaged": len(collected.damaged),
    }
    parts = [f"{count:,} {what}" for what, count in counts.items() if count]
    return f"Not every cell has a sound result: {', '.join(parts)}." if parts else ""
