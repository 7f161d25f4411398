"""A paired difference as a table's entry, and what its interval and test mean."""

from typing import Any

import pandas as pd

from benchmark.findings.main_table import PLUS_MINUS
from benchmark.metrics import column
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import Value
from benchmark.tables.model import NOTHING

OUTSIDE = "the interval leaves out 0; too few seeds for a test"
CERTAIN = "differs after Holm's correction"


def effect_entry(row: Any) -> Value:
    """`+0.41 ± 0.20` from a row of `compare_pairs`; a footnote says where it differs from 0."""
    if row is None:
        return Value(NOTHING)
    if pd.isna(row["difference"]):
        return Value(NOTHING, note=str(row["note"]))
    shown_as = column(str(row["metric"]))
    factor, decimals = shown_as.factor, shown_as.decimals
    value = factor * float(row["difference"])
    text = signed(value, decimals)
    if pd.isna(row["half_width"]):
        return Value(text, value, note=verdict(row))
    half = factor * float(row["half_width"])
    return Value(f"{text} ± {half:.{decimals}f}", value, note=verdict(row), error=half)


def verdict(row: Any) -> str:
    """What can be said of the difference beside its size; nothing where it is not told from 0."""
    if not pd.isna(row["significant"]):
        return CERTAIN if row["significant"] else ""
    outside = not pd.isna(row["low"]) and (float(row["low"]) > 0.0 or float(row["high"]) < 0.0)
    return OUTSIDE if outside else ""


def effect_notes(effects: pd.DataFrame) -> tuple[str, ...]:
    """What ± is, and what was tested."""
    notes = [f"{PLUS_MINUS} of the paired difference, not corrected."]
    alone = effects[effects["dataset"] != ALL_DATASETS]
    tests = int(alone["family"].max()) if len(alone) else 0
    if tests:
        apart = f" (rows of “{ALL_DATASETS}” apart)" if len(alone) < len(effects) else ""
        notes.append(f"Tests are corrected by Holm's method over the {tests} of this table{apart}.")
    elif len(effects):
        reasons = sorted({str(note) for note in effects["note"] if note})
        notes.append(f"Nothing was tested: {'; '.join(reasons)}.")
    return tuple(notes)


def signed(value: float, decimals: int) -> str:
    """`+0.41`, `−0.41` or `0.00`."""
    text = f"{value:+.{decimals}f}"
    return text.lstrip("+-") if float(text) == 0.0 else text.replace("-", "−")
