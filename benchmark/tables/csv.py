"""CSV for spreadsheets and scripts: plain numbers, with half of the interval in a column of its own."""

import csv
import io

from benchmark.tables.model import Column, Table, Value, visible

_FORMULA = ("=", "+", "-", "@")


def as_csv(table: Table) -> str:
    """One line per row; a column with intervals is followed by `… ±`, one with marks by `… mark`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    has_error = [any(row.entries[k].error is not None for row in table.rows) for k in range(len(table.columns))]
    has_mark = [any(row.entries[k].mark for row in table.rows) for k in range(len(table.columns))]
    kinds = list(zip(table.columns, has_error, has_mark, strict=True))
    writer.writerow([name for kind in kinds for name in _names(*kind)])
    for row in table.rows:
        parts = zip(row.entries, has_error, has_mark, strict=True)
        writer.writerow([value for part in parts for value in _values(*part)])
    return out.getvalue()


def _names(column: Column, has_error: bool, has_mark: bool) -> list[str]:
    name = safe(column.name or column.heading)
    return [name, *([f"{name} ±"] if has_error else []), *([f"{name} mark"] if has_mark else [])]


def _values(entry: Value, has_error: bool, has_mark: bool) -> list[str]:
    if isinstance(entry.value, float | int):
        shown = repr(entry.value)
    else:
        shown = "" if entry.value is None and entry.text == "–" else safe(entry.text)
    error = "" if entry.error is None else repr(entry.error)
    return [shown, *([error] if has_error else []), *([entry.mark] if has_mark else [])]


def safe(text: str) -> str:
    """Text that a spreadsheet does not read as a formula."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
