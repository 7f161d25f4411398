"""Tables on a terminal: aligned columns, signs for best and tied."""

import unicodedata

from benchmark.tables.model import BEST, TIED, Column, Table, Value, visible

SIGNS = {BEST: "●", TIED: "○", "": " "}


def as_terminal(table: Table) -> str:
    """Title, caption, table, legend and footnotes."""
    rows = [[visible(column.heading) for column in table.columns]]
    rows += [[_entry(table, *pair) for pair in zip(row.entries, table.columns, strict=True)] for row in table.rows]
    widths = [max(width(row[k]) for row in rows) for k in range(len(table.columns))]
    numeric = [column.numeric for column in table.columns]
    written = ["  ".join(map(_padded, row, widths, numeric)).rstrip() for row in rows]
    lines = [visible(table.title), *([visible(table.caption)] if table.caption else []), ""]
    lines += [written[0], "─" * (sum(widths) + 2 * (len(widths) - 1)), *written[1:]]
    best, tied = table.legend
    legend = [f"{SIGNS[BEST]} best"] * best + [f"{SIGNS[TIED]} not significantly different from the best"] * tied
    lines += ["", ", ".join(legend)] if legend else []
    notes = [f"[{number}] {visible(note)}" for number, note in enumerate(table.remarks, 1)]
    notes += [visible(note) for note in table.footnotes]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _entry(table: Table, entry: Value, column: Column) -> str:
    number = table.mark_of(entry)
    text = visible(entry.text) + ("" if number is None else f" [{number}]")
    return f"{text} {SIGNS[entry.mark]}" if column.numeric and any(table.legend) else text


def width(text: str) -> int:
    """The number of terminal columns that the text takes."""
    wide = sum(unicodedata.east_asian_width(mark) in "WF" for mark in text)
    none = sum(unicodedata.combining(mark) != 0 for mark in text)
    return len(text) + wide - none


def _padded(text: str, size: int, right: bool) -> str:
    space = " " * (size - width(text))
    return space + text if right else text + space
