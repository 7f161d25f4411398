"""Where losses stand, in tables and sentences for the screen; the site shows the same tables."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from benchmark.findings.about_losses import AboutLoss
from benchmark.findings.differences import differences, why_no_differences
from benchmark.findings.findings import Findings
from benchmark.findings.main_table import Losses, leaderboard
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.standings import Board, Standings
from benchmark.spec.labels import with_settings
from benchmark.statistics import MIN_SEEDS
from benchmark.tables import Row, Table, as_terminal


def about(board: Board) -> Losses:
    """What tables say of each entry beside its figures."""
    return {label: about_entry(entry) for label, entry in board.entries.items()}


def about_entry(entry: Entry) -> AboutLoss:
    shown = {key: value for key, value in entry.settings.items() if key in entry.hyper or _is_number(key, value)}
    return AboutLoss(entry.label, entry.family, with_settings("", shown).strip())


def _is_number(key: str, value: object) -> bool:
    return key == "s" or (isinstance(value, int | float) and not isinstance(value, bool))


def whole_table(board: Board) -> str:
    return as_terminal(leaderboard(board.findings, about(board)))


def of_each(board: Board, chosen: Sequence[Entry]) -> str:
    """Of each chosen entry its row, its differences from the baseline, and whom it is tied with."""
    table = leaderboard(board.findings, about(board))
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
    table = differences(board.findings, about(board))
    return replace(table, rows=_rows_of(table, entry.label))


def ties_of(board: Board, entry: Entry) -> dict[str, str]:
    """By dataset: whom the entry cannot be told apart from after Holm's correction, the nearest first."""
    if len(board.entries) < 2 or not board.findings.figures:
        return {}
    rows = Findings(board.findings.results, entry.label, board.findings.jackknife).differences
    return {str(dataset): _tied_with(part) for dataset, part in rows.groupby("dataset", sort=False)}


def _of_one(board: Board, entry: Entry, table: Table) -> str:
    place = f"place {board.order.index(entry.label) + 1} of {len(board.order)}"
    own = replace(table, title=f"{entry.label}: {place}", rows=_rows_of(table, entry.label))
    against = differences_of(board, entry)
    parts = [as_terminal(own), against if isinstance(against, str) else as_terminal(against)]
    ties = [f"  {dataset}: {names}" for dataset, names in ties_of(board, entry).items()]
    if ties:
        parts.append("\n".join([f"Tied with {entry.label}: those that a corrected test does not tell from it", *ties]))
    return "\n\n".join(parts)


def _rows_of(table: Table, label: str) -> tuple[Row, ...]:
    return tuple(row for row in table.rows if row.tags["loss"] == label)


def _tied_with(rows: pd.DataFrame) -> str:
    """Names, from differences of all others on one dataset."""
    tested = rows[rows["significant"].notna()]
    if tested.empty:
        return f"not tested, a test needs {MIN_SEEDS} seeds"
    tied = tested[~tested["significant"].astype(bool)]
    nearest = tied.assign(gap=tied["difference"].abs()).sort_values(["gap", "loss"])
    return ", ".join(nearest["loss"]) or "none"


def left_aside(found: Standings, entries: Entries) -> list[str]:
    """A line for every entry that is not in the standings, with the reason."""
    lines = [f"refused: {reason}" for reason in entries.refused.values()]
    lines += [f"apart: {name}.json: {reason}" for name, reason in sorted(found.outdated.items())]
    for board in found.others:
        names = ", ".join(sorted(f"{entry.name}.json" for entry in board.entries.values()))
        lines.append(f"apart: {names}: {why_apart(board, found)}")
    return lines


def why_apart(board: Board, found: Standings) -> str:
    """Why a board is not the one that is asked for."""
    current = found.current
    if current is not None and board.protocol == current.protocol:
        return "other datasets, training or seeds than this experiment's"
    return f"made under protocol {board.protocol}"
