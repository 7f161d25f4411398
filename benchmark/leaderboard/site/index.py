"""The first page: the answer in words and the standings, for every metric and every board."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.findings import answer
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.standings import Board, Standings
from benchmark.leaderboard.text import metric_table, standings_table, why_apart
from benchmark.metrics import measured
from benchmark.pages import Choice, Shown, choices, render
from benchmark.tables import Table
from benchmark.text import counted

KINDS = (("Dataset", "dataset"), ("Family", "family"), ("Settings", "settings"))


@dataclass(frozen=True)
class TableBlock:
    """One table: a metric of a board. Filters look at both."""

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
        filters=_filters(boards, blocks, found),
        blocks=blocks,
        left=[*left, *sorted(entries.refused.items())],
    )


def settings_of(entry: Entry) -> str:
    return "tuned" if entry.tuned else "defaults"


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
        ("Protocol", "board", [(board.id, _board_title(board, found)) for board in boards]),
    ]


def _board_title(board: Board, found: Standings) -> str:
    size = "1 entry" if len(board.entries) == 1 else f"{len(board.entries)} entries"
    if board is found.current:
        return f"{board.protocol} (today's), {size}"
    return f"{board.protocol}, apart: {size}, {why_apart(board, found)}"


def _size(found: Standings) -> str:
    if found.current is None:
        return "no entry counts yet"
    entries = found.current.entries.values()
    runs = sum(len(result.runs) for entry in entries for result in entry.results)
    return (
        f"protocol {found.current.protocol} · {len(entries)} entries of {len({entry.loss for entry in entries})} losses"
        f" · {counted(runs, 'run')} · last entry of {max(entry.date for entry in entries)}"
    )
