"""The tables of a loss's page: hyper-parameters, audit, every metric on every dataset, and seed by seed."""

from typing import Any

import losses
from benchmark.audit import CHECKS
from benchmark.code_digest import loss_digest
from benchmark.findings import PLUS_MINUS, entry_of
from benchmark.leaderboard.entries import Entry, Result
from benchmark.leaderboard.standings import Board
from benchmark.metrics import MetricColumn, TableName, measured
from benchmark.spec.labels import short_value
from benchmark.statistics import ALL_DATASETS, SEEDS_AND_IDENTITIES
from benchmark.tables import Column, Row, Table, Value, with_error
from benchmark.tables.model import NOTHING

ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}
TITLES: dict[TableName, str] = {"performance": "How well it does", "geometry": "How its classes lie on the sphere"}


def hyper_table(entry: Entry) -> Table:
    """Ranges and meanings are known where the loss that the entry was made with is here."""
    declared = losses.get(entry.loss).hyper if is_here(entry) else {}
    rows = []
    for name, value in entry.settings.items():
        known = declared.get(name)
        said = [NOTHING, NOTHING] if known is None else [known.meaning, known.allowed()]
        how = "chosen" if name in entry.hyper else "default"
        rows.append(Row(tuple(Value(text) for text in (name, short_value(value), how, *said))))
    columns = ("Name", "Value", "Chosen?", "Meaning", "Allowed")
    return Table("hyper", "Hyper-parameters", tuple(Column(name, numeric=False) for name in columns), tuple(rows))


def is_here(entry: Entry) -> bool:
    """Whether the loss that the entry was made with is among the losses, unchanged."""
    return entry.loss in losses.names() and loss_digest(entry.loss) == entry.loss_digest


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
    return Table("audit", "Audit", columns, tuple(rows))


def result_tables(entry: Entry, board: Board) -> list[Table]:
    """Every metric on every dataset, performance and geometry apart."""
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
    notes = (*arrows, _what_intervals_carry(entry, board, metrics))
    return Table(f"results-{group}", TITLES[group], columns, tuple(rows), "", notes)


def _what_intervals_carry(entry: Entry, board: Board, metrics: list[MetricColumn]) -> str:
    """Which metrics' intervals carry the test identities beside the seeds."""
    both = [
        metric.heading
        for metric in metrics
        for (loss, _), found in board.findings.of(metric.key, metric.lower_is_better).items()
        if loss == entry.label and found.carries == SEEDS_AND_IDENTITIES
    ]
    carried = f", and the test identities for {', '.join(dict.fromkeys(both))}" if both else ""
    return f"{PLUS_MINUS}; it carries the seeds{carried}."


def seed_table(entry: Entry, board: Board) -> Table:
    """The main metric of each dataset, run by run."""
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
