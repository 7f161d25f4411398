"""A table before it is written: headings, rows of entries, marks and notes."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmark.errors import InputError
from benchmark.text import number, p_value

BEST, TIED = "best", "tied"
NOTHING = "–"


@dataclass(frozen=True)
class Value:
    """The content of one field of a table."""

    text: str
    value: float | str | None = None  # for sorting and for CSV files
    mark: str = ""  # BEST, TIED or nothing
    note: str = ""  # a remark on this value; equal remarks share a footnote
    error: float | None = None  # half of the interval that the text shows
    link: str = ""  # a page of the same site; in HTML only


@dataclass(frozen=True)
class Column:
    heading: str
    meaning: str = ""
    numeric: bool = True
    name: str = ""  # in a CSV file; the heading by default
    secondary: bool = False  # left out in LaTeX, where space is short
    tags: Mapping[str, str] = field(default_factory=dict)  # for filters, such as the dataset


@dataclass(frozen=True)
class Row:
    entries: tuple[Value, ...]
    tags: Mapping[str, str] = field(default_factory=dict)  # for filters, such as dataset and family


@dataclass(frozen=True)
class Table:
    name: str  # of the file, and the anchor in a page: lower-case letters, digits and hyphens
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    footnotes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.entries) != len(self.columns):
                raise InputError(
                    f"table {self.name!r}: a row has {len(row.entries)} entries, expected {len(self.columns)}"
                )

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes of all values, each once, in order of appearance; their places are the numbers of the footnotes."""
        notes = [entry.note for row in self.rows for entry in row.entries if entry.note]
        return tuple(dict.fromkeys(notes))

    def mark_of(self, entry: Value) -> int | None:
        """The number of an entry's footnote."""
        return self.remarks.index(entry.note) + 1 if entry.note else None

    @property
    def legend(self) -> tuple[bool, bool]:
        """Whether any entry is marked best, and whether any is marked tied."""
        marks = {entry.mark for row in self.rows for entry in row.entries}
        return BEST in marks, TIED in marks


def with_error(
    value: float | None,
    error: float | None = None,
    decimals: int = 2,
    mark: str = "",
    note: str = "",
    signed: bool = False,
) -> Value:
    """`95.64 ± 0.41`, `+0.41 ± 0.20` with `signed`, or a dash if there is no value."""
    if value is None or value != value:
        return Value(NOTHING, None, note=note)
    text = number(value, decimals, signed)
    if error is None or error != error:
        return Value(text, value, mark, note)
    return Value(f"{text} ± {error:.{decimals}f}", value, mark, note, error)


def with_p(p: float | None) -> Value:
    """A p-value, or a dash if nothing was tested; <NA> counts as None."""
    return Value(p_value(p), float(p)) if isinstance(p, float) and p == p else Value(NOTHING)


def visible(text: str) -> str:
    """One line without control characters, which could steer a terminal or change the reading direction."""
    return "".join(" " if unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Zl", "Zp") else mark for mark in text)
