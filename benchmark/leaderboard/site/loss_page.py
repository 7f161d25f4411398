"""The page of one loss: what it is, its results, its differences from others, its audit."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

import losses
from benchmark.audit import CHECKS
from benchmark.findings import PLUS_MINUS, entry_of
from benchmark.leaderboard.entries import Entry, Result, tuned_names
from benchmark.leaderboard.make_entry import is_here
from benchmark.leaderboard.site.curves import Curves, curves_for_a_page, state_of
from benchmark.leaderboard.site.index import settings_of
from benchmark.leaderboard.standings import Board
from benchmark.leaderboard.text import differences_of, ties_of
from benchmark.metrics import MetricColumn, TableName, columns, measured
from benchmark.pages import Drawn, Facts, NotDrawn, Shown, render
from benchmark.spec.values import short_value, with_settings
from benchmark.statistics import ALL_DATASETS, SEEDS_AND_IDENTITIES
from benchmark.tables import Column, Row, Table, Value, with_error
from benchmark.tables.model import NOTHING, visible

BEGINNINGS = ("Paper:", "Good for:")
ARXIV = re.compile(r"arXiv:([0-9]{4}\.[0-9]{4,5})")
ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}
TITLES: dict[TableName, str] = {"performance": "Performance", "geometry": "Geometry: how the classes lie on the sphere"}


def loss_page(
    entry: Entry, board: Board, curves: Mapping[str, Curves], maps: Drawn | NotDrawn | None, apart: str
) -> bytes:
    """`curves` are by the names of entries; `apart` says why the entry is not in the current standings."""
    formula, *paragraphs = paragraphs_of(entry.description) or [Paragraph(("no description",), is_aligned=False)]
    against = differences_of(board, entry)
    return render(
        Path(__file__).parent,
        "loss.html.j2",
        here="loss",
        up="../",
        entry=entry,
        settings=f"tuned: {', '.join(tuned_names(entry.hyper))}" if entry.tuned else settings_of(entry),
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
        curves=_curves(entry, board, curves),
        maps=maps if isinstance(maps, Drawn) else None,
        not_drawn=maps if isinstance(maps, NotDrawn) else None,
        meanings=[(column.heading, column.meaning) for column in columns() if column.key in board.findings.results],
        background=_background(entry),
    )


@dataclass(frozen=True)
class ShownCurves:
    """What the script draws, and for each dataset what the curves show or why there are none."""

    data: Markup
    names: str  # of the entries to draw, the baseline last
    notes: Facts


def _curves(entry: Entry, board: Board, curves: Mapping[str, Curves]) -> ShownCurves | None:
    if entry.name not in curves:
        return None
    baseline = board.entries.get(board.baseline)
    shown = {one.name: one.label for one in (entry, baseline) if one is not None and one.name in curves}
    own = curves[entry.name]
    notes = [(dataset, f"Drawn with {state_of(own, dataset)}.") for dataset in own.shapes]
    notes += [(dataset, f"Not drawn: {reason}.") for dataset, reason in own.missing.items()]
    return ShownCurves(curves_for_a_page({name: curves[name] for name in shown}), json.dumps([*shown]), notes)


@dataclass(frozen=True)
class Paragraph:
    """Part of a docstring: running text, or lines whose columns stay aligned."""

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
    """Joins the lines of a paragraph; `Paper:` and `Good for:` begin new lines."""
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
        ("Entry", f"{entry.name}.json, made on {entry.date}"),
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


def hyper_table(entry: Entry) -> Table:
    """All hyper-parameters; with ranges and meanings if the loss of the entry exists here."""
    declared = losses.get(entry.loss).hyper if is_here(entry) else {}
    rows = []
    for name, value in entry.settings.items():
        known = declared.get(name)
        said = [NOTHING, NOTHING] if known is None else [known.meaning, known.allowed()]
        how = "tuned" if name in tuned_names(entry.hyper) else "rule" if name in entry.hyper else "default"
        rows.append(Row(tuple(Value(text) for text in (name, short_value(value), how, *said))))
    columns = ("Name", "Value", "From", "Meaning", "Allowed")
    return Table(
        "hyper", "Values of the hyper-parameters", tuple(Column(name, numeric=False) for name in columns), tuple(rows)
    )


def audit_table(entry: Entry) -> Table:
    meanings = {check.name: check.meaning for check in CHECKS}
    rows = [
        Row(
            (
                Value(one.check),
                Value("passed" if one.verdict == "pass" else "does not apply"),
                Value(NOTHING) if one.worst is None else Value(f"{one.worst:.1g}", one.worst),
                Value(f"{one.tolerance:g}", one.tolerance),
                Value(meanings.get(one.check, NOTHING)),
            )
        )
        for one in entry.audit
    ]
    columns = (
        Column("Check", numeric=False),
        Column("Verdict", numeric=False),
        Column("Worst found"),
        Column("Allowed"),
        Column("What is measured", numeric=False),
    )
    return Table("audit", "Checks of the audit", columns, tuple(rows))


def result_tables(entry: Entry, board: Board) -> list[Table]:
    """Every metric on every dataset: one table for performance, one for geometry."""
    kept = {group: measured(board.findings.results, group) for group in TITLES}
    return [_results(entry, board, group, columns) for group, columns in kept.items() if columns]


def _results(entry: Entry, board: Board, group: TableName, metrics: list[MetricColumn]) -> Table:
    findings = board.findings
    datasets = [*findings.datasets, *([ALL_DATASETS] if len(findings.datasets) > 1 else [])]
    rows = []
    for metric in metrics:
        found = findings.of(metric.key, metric.lower_is_better)
        cells = [
            entry_of(found[at], metric, len(board.entries)) if (at := (entry.label, name)) in found else Value(NOTHING)
            for name in datasets
        ]
        rows.append(Row((Value(f"{metric.title}{ARROWS[metric.better]}"), *cells)))
    columns = (Column("Metric", numeric=False), *(Column(name) for name in datasets))
    arrows = ("↑ higher is better, ↓ lower is better.",) if group == "performance" else ()
    notes = (*arrows, _what_intervals_cover(entry, board, metrics))
    return Table(f"results-{group}", TITLES[group], columns, tuple(rows), "", notes)


def _what_intervals_cover(entry: Entry, board: Board, metrics: list[MetricColumn]) -> str:
    """What the intervals cover: the seeds, and for some metrics the test identities too."""
    both = [
        metric.heading
        for metric in metrics
        for (loss, _), found in board.findings.of(metric.key, metric.lower_is_better).items()
        if loss == entry.label and found.carries == SEEDS_AND_IDENTITIES
    ]
    identities = f", and over test identities for {', '.join(dict.fromkeys(both))}" if both else ""
    return f"{PLUS_MINUS}; it covers the variation over seeds{identities}."


def seed_table(entry: Entry, board: Board) -> Table:
    """The main metric of each dataset for every seed."""
    main = board.findings.main_columns
    results = [result for result in entry.results if result.label in main]
    columns = [Column(f"{one.label}: {main[one.label].title.lower()}") for one in results]
    seeds = sorted({seed for result in results for seed in result.seeds})
    rows = [
        Row((Value(str(seed), seed), *(_of_seed(result, seed, main[result.label]) for result in results)))
        for seed in seeds
    ]
    return Table("seeds", "Seed by seed", (Column("Seed"), *columns), tuple(rows))


def _of_seed(result: Result, seed: int, column: MetricColumn) -> Value:
    if seed not in result.seeds:
        return Value(NOTHING)
    place = result.seeds.index(seed)
    run, values = result.runs[place], result.figures.get(column.key)
    if run.diverged_at is not None:
        reason = f": {run.diverged_reason}" if run.diverged_reason else ""
        return Value("diverged", note=f"diverged at step {run.diverged_at}{reason}")
    value: Any = None if values is None else values[place]
    return with_error(None if value is None else column.factor * value, decimals=column.decimals)
