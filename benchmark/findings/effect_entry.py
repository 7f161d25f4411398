"""A paired difference in a table: its size, its test, and what its interval and test mean."""

from dataclasses import replace
from typing import Any

import pandas as pd

from benchmark.findings.notes import PLUS_MINUS
from benchmark.metrics import column
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import Column, Value, with_error, with_p
from benchmark.tables.model import NOTHING

OUTSIDE = "the interval leaves out 0; too few seeds for a test"
CERTAIN = "differs after Holm's correction"
NOT_CORRECTED = f"{PLUS_MINUS} of the paired difference, not corrected."
TEST_COLUMNS = (
    Column("p (Holm)", "how often chance alone would give such a difference, corrected"),
    Column("Seeds", "pairs of runs"),
    Column("In words", numeric=False),
)


def p_entries(row: Any, better: str, worse: str) -> tuple[Value, ...]:
    """The entries below TEST_COLUMNS, from a row of `compare`; `better` and `worse` say what the sign means."""
    seeds = int(row["n_seeds"])
    return with_p(row["p_holm"]), Value(str(seeds), seeds), Value(in_words(row, better, worse))


def in_words(row: Any, better: str = "better", worse: str = "worse") -> str:
    """What the test says; why there is none, where there is none."""
    if pd.isna(row["significant"]):
        return str(row["note"])
    if not row["significant"]:
        return str(row["note"]) or "not significant"
    return better if row["difference"] > 0 else worse


def difference_entry(row: Any) -> Value:
    """`+0.41 ± 0.20` from a row of `compare`."""
    shown_as = column(str(row["metric"]))
    value, half = (
        None if pd.isna(row[key]) else shown_as.factor * float(row[key]) for key in ("difference", "half_width")
    )
    return with_error(value, half, shown_as.decimals, signed=True)


def effect_entry(row: Any) -> Value:
    """The same with a footnote that says where it differs from 0."""
    return Value(NOTHING) if row is None else replace(difference_entry(row), note=_remark(row))


def _remark(row: Any) -> str:
    if pd.isna(row["difference"]):
        return str(row["note"])
    if not pd.isna(row["significant"]):
        return CERTAIN if row["significant"] else ""
    outside = not pd.isna(row["low"]) and (float(row["low"]) > 0.0 or float(row["high"]) < 0.0)
    return OUTSIDE if outside else ""


def effect_notes(effects: pd.DataFrame) -> tuple[str, ...]:
    """What ± is, and what was tested."""
    notes = [NOT_CORRECTED]
    alone = effects[effects["dataset"] != ALL_DATASETS]
    tests = int(alone["family"].max()) if len(alone) else 0
    if tests:
        apart = f" (rows of “{ALL_DATASETS}” apart)" if len(alone) < len(effects) else ""
        notes.append(f"Tests are corrected by Holm's method over the {tests} of this table{apart}.")
    elif len(effects):
        reasons = sorted({str(note) for note in effects["note"] if note})
        notes.append(f"Nothing was tested: {'; '.join(reasons)}.")
    return tuple(notes)
