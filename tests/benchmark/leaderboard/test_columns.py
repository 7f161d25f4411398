"""The columns of the standings: every registered one keeps the contract, and one file adds one."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.leaderboard import columns
from benchmark.leaderboard.columns import COLUMNS, Standing
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.site import build
from benchmark.leaderboard.standings import Board, Standings
from benchmark.leaderboard.text import whole_table
from benchmark.tables import Value
from datasets._registry import forget
from tests.benchmark.leaderboard import made

SEEDS_OF_AN_ENTRY = """
from benchmark.leaderboard.columns import Standing, leaderboard_column
from benchmark.tables import Value


@leaderboard_column("Runs so far", "how many runs the entry has", place=15)
def runs(standing: Standing) -> Value:
    count = sum(len(result.runs) for result in standing.entry.results)
    return Value(str(count), count)
"""


@pytest.fixture
def board() -> Board:
    entries = [made.entry("low", means={"digits": 0.8, "letters": 0.7}), made.entry("mine", hyper={"m": 0.3})]
    return Board({entry.label: entry for entry in entries}, "low")


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "dropped_runs.py").write_text(SEEDS_OF_AN_ENTRY)
    monkeypatch.setattr(columns, "__path__", [*columns.__path__, str(tmp_path)])
    yield
    forget("benchmark.leaderboard.columns.dropped_runs")


def shown(board: Board) -> tuple[str, str, list[dict[str, str]]]:
    """The standings on a terminal, on the site's first page and as CSV."""
    files = build(Standings(board), Entries())
    rows = list(csv.DictReader(io.StringIO(files["standings.csv"].decode("utf-8-sig"))))
    return whole_table(board), files["index.html"].decode(), rows


@pytest.mark.contract
@pytest.mark.parametrize("name", COLUMNS.names())
@pytest.mark.parametrize("rank", [1.5, None])
def test_a_column_has_a_value_for_every_entry_and_is_shown_everywhere(
    name: str, rank: float | None, board: Board
) -> None:
    one = COLUMNS.get(name)
    assert one.column.heading
    assert one.column.meaning
    assert [other.column.heading for other in COLUMNS.items().values()].count(one.column.heading) == 1
    for entry in board.entries.values():
        value = one.value(Standing(entry, board, rank))
        assert isinstance(value, Value)
        assert value.text
        assert not one.column.numeric or value.value is None or isinstance(value.value, int | float)
    terminal, page, rows = shown(board)
    assert one.column.heading in terminal
    assert all(f"<span>{word}</span>" in page for word in one.column.heading.split())
    assert all(one.column.heading in row for row in rows)


def test_the_columns_that_came_first_keep_their_order(board: Board) -> None:
    headings = list(shown(board)[2][0])
    kept = [heading for heading in headings if heading in ("Average rank", "Family", "Settings")]
    assert kept == ["Average rank", "Family", "Settings"]
    first = shown(board)[2][0]
    assert first["loss"] == "mine m=0.3"
    assert (float(first["Average rank"]), first["Family"], first["Settings"]) == (
        1.0,
        "target margin",
        "s=auto m=0.3 (tuned: m)",
    )


@pytest.mark.usefixtures("dropped")
def test_one_file_adds_a_column(board: Board) -> None:
    terminal, page, rows = shown(board)
    assert "Runs so far" in terminal
    assert "how many runs the entry has" in page
    assert [row["Runs so far"] for row in rows] == ["10", "10"]
    headings = list(rows[0])
    assert headings.index("Average rank") < headings.index("Runs so far") < headings.index("Family")
