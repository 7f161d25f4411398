"""How a column registers, and what it is computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmark.findings import AboutLoss, LossColumn, Places
from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.standings import Board
from benchmark.tables import Column, Value
from datasets._registry import Registry


@dataclass(frozen=True)
class Standing:
    """An entry in one table of its board."""

    entry: Entry
    board: Board
    rank: float | None  # the average over the datasets of the table; None if the entry lacks one of them

    @property
    def about(self) -> AboutLoss:
        return self.board.about[self.entry.label]


@dataclass(frozen=True)
class LeaderboardColumn:
    column: Column
    place: int  # columns are sorted by it
    value: Callable[[Standing], Value]


COLUMNS: Registry[LeaderboardColumn] = Registry("leaderboard column", __package__, "marginbench.leaderboard_columns")


def leaderboard_column(
    heading: str, meaning: str, place: int, numeric: bool = True, secondary: bool = False
) -> Callable[[Callable[[Standing], Value]], Callable[[Standing], Value]]:
    """Registers the function as the column of its name. A secondary column is left out of printed tables."""

    def register(value: Callable[[Standing], Value]) -> Callable[[Standing], Value]:
        column = Column(heading, meaning, numeric, secondary=secondary)
        COLUMNS.add(value.__name__, LeaderboardColumn(column, place, value), source=value)
        return value

    return register


def beside(board: Board, places: Places) -> list[LossColumn]:
    """All registered columns for a table of the board, whose average ranks are `places`."""

    def entry(column: LeaderboardColumn, label: str) -> Value:
        return column.value(Standing(board.entries[label], board, places.get(label)))

    ordered = sorted(COLUMNS.items().items(), key=lambda item: (item[1].place, item[0]))
    return [LossColumn(column.column, partial(entry, column)) for _, column in ordered]
