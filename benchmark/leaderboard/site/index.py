"""The first page: the answer in words, and the standings by every metric."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.findings import answer
from benchmark.leaderboard.entries import Entry, tuned_names
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.site.dataset_page import results_of, summary_of
from benchmark.leaderboard.standings import Board, Standings
from benchmark.leaderboard.text import counted_entries, metric_table, standings_table, why_apart
from benchmark.metrics import measured
from benchmark.pages import Choice, Shown, choices, render
from benchmark.tables import Table
from benchmark.text import counted, listed

KINDS = (("Dataset", "dataset"), ("Family", "family"), ("Settings", "settings"))


@dataclass(frozen=True)
class TableBlock:
    """One table: a metric of a board, which the filters choose by."""

    board: str
    metric: str
    table: Shown


def index_page(found: Standings, entries: Entries) -> bytes:
    boards = [board for board in (found.current, *found.others) if board is not None]
    blocks = [block for board in boards for block in _blocks(board, is_first=board is boards[0])]
    left = [(f"{name}.json", reason) for name, reason in sorted(found.outdated.items())]
    return render(
        Path(__file__).parent,
        "index.html.j2",
        here="index",
        up="",
        size=_size(found),
        answer=None if found.current is None else answer(found.current.findings),
        tuning=None if found.current is None else tuning_of(found.current),
        datasets=[] if found.current is None else [(one.label, summary_of(one)) for one in results_of(found.current)],
        filters=_filters(boards, blocks, found),
        blocks=blocks,
        left=[*left, *sorted(entries.refused.items())],
    )


def settings_of(entry: Entry) -> str:
    return "tuned" if entry.tuned else "defaults"


def tuning_of(board: Board) -> str:
    """Which entries have tuned settings, and what the others have."""
    tuned = {label: names for label, entry in board.entries.items() if (names := tuned_names(entry.hyper))}
    rest = len(board.entries) - len(tuned)
    of_rest = f"{counted_entries(rest)} {'uses' if rest == 1 else 'use'} the loss's own defaults"
    rule = "; s=auto sets the scale from the number of classes, by the same rule for every loss"
    if not tuned:
        return f"No entry is tuned: {of_rest}{rule}. Training is the same for every loss."
    chosen = listed([f"{label} ({listed(names)})" for label, names in tuned.items()])
    return f"Tuned settings: {chosen}. {of_rest}{rule}. Training is the same for every loss."


def _blocks(board: Board, is_first: bool) -> list[TableBlock]:
    columns = measured(board.findings.results, "performance")
    tables = [standings_table(board), *(metric_table(board, column) for column in columns)]
    return [
        TableBlock(board.id, table.name, Shown(table if is_first else replace(table, name=f"{table.name}-{board.id}")))
        for table in (_linked(table, board) for table in tables)
    ]


def _linked(table: Table, board: Board) -> Table:
    rows = []
    for row in table.rows:
        entry = board.entries[row.tags["loss"]]
        name = replace(row.entries[0], link=f"losses/{entry.name}.html")
        tags = {**row.tags, "settings": settings_of(entry)}
        rows.append(replace(row, entries=(name, *row.entries[1:]), tags=tags))
    return replace(table, rows=tuple(rows))


def _filters(boards: Sequence[Board], blocks: Sequence[TableBlock], found: Standings) -> list[Choice]:
    if not boards:
        return []
    metrics = {block.metric: block.table.title for block in blocks}
    return [
        ("Metric", "metric", list(metrics.items())),
        *choices((block.table.table for block in blocks), KINDS),
        ("Protocol version", "board", [(board.id, _board_title(board, found)) for board in boards]),
    ]


def _board_title(board: Board, found: Standings) -> str:
    size = counted_entries(len(board.entries))
    if board is found.current:
        return f"{board.protocol} (current), {size}"
    return f"{board.protocol}, not compared: {size}, {why_apart(board, found)}"


def _size(found: Standings) -> str:
    if found.current is None:
        return "no entry counts yet"
    entries = found.current.entries.values()
    runs = sum(len(result.runs) for entry in entries for result in entry.results)
    return (
        f"{counted_entries(len(entries))} of {counted(len({entry.loss for entry in entries}), 'loss')} · "
        f"{counted(runs, 'run')} · protocol version {found.current.protocol} · "
        f"last entry: {max(entry.date for entry in entries)}"
    )
