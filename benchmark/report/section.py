"""A part of the report that only some experiments have: its words and its tables, and the pictures beside them."""

from dataclasses import dataclass

from benchmark.tables import Table


@dataclass(frozen=True)
class Section:
    name: str  # the anchor, the folder of the tables' files and the pictures' section
    title: str
    words: tuple[str, ...]
    tables: tuple[Table, ...]
