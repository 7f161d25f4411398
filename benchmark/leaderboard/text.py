"""The standings as tables and sentences for the terminal; the site shows the same tables."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from benchmark.findings import by_metric, differences, main_table, why_no_differences
from benchmark.leaderboard.columns import beside
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.standings import Board, Standings
from benchmark.metrics import MetricColumn
from benchmark.statistics import MIN_SEEDS
from benchmark.tables import Row, Table, as_terminal


def counted_entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def standings_table(board: Board) -> Table:
    """The main metric of each dataset, and every registered column."""
    return main_table(board.findings, board.about, partial(beside, board))


def metric_table(board: Board, column: MetricColumn) -> Table:
    """The same for one metric."""
    return by_metric(board.findings, board.about, column, partial(beside, board))


def whole_table(board: Board) -> str:
    return as_terminal(standings_table(board))


def of_each(board: Board, chosen: Sequence[Entry]) -> str:
    """For each chosen entry: its row, its differences from the baseline, and the losses that it is tied with."""
    table = standings_table(board)
    return "\n\n".join(_of_one(board, entry, table) for entry in chosen)


def differences_of(board: Board, entry: Entry) -> Table | str:
    """The entry against the baseline, or why there is nothing to show."""
    if board.baseline not in board.entries:
        return f"The baseline {board.baseline} has no entry here, so there are no differences from it."
    if entry.label == board.baseline:
        return f"{entry.label} is the baseline that the others are compared with."
    reason = why_no_differences(board.findings)
    if reason:
        return reason
    table = differences(board.findings, board.about)
    return replace(table, rows=_rows_of(table, entry.label))


def ties_of(board: Board, entry: Entry) -> dict[str, str]:
    """By dataset: the losses without a significant difference from the entry, the nearest first."""
    if len(board.entries) < 2 or not board.findings.main_columns:
        return {}
    rows = board.findings.differences_from(entry.label)
    return {str(dataset): _tied_with(part) for dataset, part in rows.groupby("dataset", sort=False)}


def _of_one(board: Board, entry: Entry, table: Table) -> str:
    place = f"place {board.order.index(entry.label) + 1} of {len(board.order)}"
    own = replace(table, title=f"{entry.label}: {place}", rows=_rows_of(table, entry.label))
    against = differences_of(board, entry)
    parts = [as_terminal(own), against if isinstance(against, str) else as_terminal(against)]
    ties = [f"  {dataset}: {names}" for dataset, names in ties_of(board, entry).items()]
    if ties:
        parts.append("\n".join([f"Not significantly different from {entry.label} after Holm's correction:", *ties]))
    return "\n\n".join(parts)


def _rows_of(table: Table, label: str) -> tuple[Row, ...]:
    return tuple(row for row in table.rows if row.tags["loss"] == label)


def _tied_with(rows: pd.DataFrame) -> str:
    """The names of tied losses, from the differences of all others on one dataset."""
    tested = rows[rows["significant"].notna()]
    if tested.empty:
        return f"not tested, because a test needs {MIN_SEEDS} seeds"
    tied = tested[~tested["significant"].astype(bool)]
    nearest = tied.assign(gap=tied["difference"].abs()).sort_values(["gap", "loss"])
    return ", ".join(nearest["loss"]) or "none"


def left_aside(found: Standings, entries: Entries) -> list[str]:
    """A line for every entry that is not in the standings, with the reason."""
    lines = [f"refused: {name}: {reason}" for name, reason in entries.refused.items()]
    lines += [f"not compared: {name}.json: {reason}" for name, reason in sorted(found.outdated.items())]
    for board in found.others:
        names = ", ".join(sorted(f"{entry.name}.json" for entry in board.entries.values()))
        lines.append(f"not compared: {names}: {why_apart(board, found)}")
    return lines


def why_apart(board: Board, found: Standings) -> str:
    """Why a board does not fit the experiment."""
    current = found.current
    if current is not None and board.protocol == current.protocol:
        return "its datasets, training or seeds differ from the experiment's"
    return f"it was made with protocol version {board.protocol}"
