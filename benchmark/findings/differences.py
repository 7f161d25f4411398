"""Paired differences in tables and words: their size, their intervals, and which of them are significant."""

from dataclasses import replace
from typing import Any

import pandas as pd
from markupsafe import Markup

from benchmark.findings.answer import MOST_NAMED, joined, named, on
from benchmark.findings.findings import Findings
from benchmark.findings.main_table import PLUS_MINUS, Losses
from benchmark.metrics import column
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import Column, Row, Table, Value, with_error, with_p
from benchmark.tables.model import NOTHING
from benchmark.text import in_words, number

OUTSIDE = "the interval does not contain 0, but there are too few seeds for a test"
CERTAIN = "significant after Holm's correction"
NOT_CORRECTED = f"{PLUS_MINUS} of the paired difference. The interval is not corrected for the number of tests."
TEST_COLUMNS = (
    Column("Result", "what the test says", numeric=False),
    Column("p (Holm)", "the probability of such a difference by chance alone, corrected for the number of tests"),
    Column("Seeds", "number of paired runs"),
)


def why_no_differences(findings: Findings) -> str:
    """The reason; empty if there are differences to show."""
    if findings.baseline not in findings.losses:
        return f"The baseline {findings.baseline} has no result yet, so there are no differences to show."
    if not findings.main_columns:
        return "No run has a value, so there are no differences to show."
    if len(findings.losses) == 1:
        return f"Only the baseline {findings.baseline} was run, so there are no differences to show."
    return ""


def differences(findings: Findings, losses: Losses) -> Table:
    """The largest gain first, dataset by dataset."""
    rows = [_row(row, losses) for row in _ordered(findings.differences)]
    tuned = sorted(set(findings.baselines.values()))
    others = "".join(f", and the other tuned rows minus {name}" for name in tuned)
    return Table(
        "differences",
        "Differences from the baselines" if tuned else f"Differences from {findings.baseline}",
        (
            Column("Loss", numeric=False),
            Column("Dataset", numeric=False),
            Column("Difference", "loss − baseline, in percentage points; mean over the seeds that both have"),
            *TEST_COLUMNS,
            Column("Metric", numeric=False),
        ),
        tuple(rows),
        f"Each loss minus {findings.baseline}{others}, in percentage points, paired by seed and test identity.",
        (
            NOT_CORRECTED,
            f"p is corrected by Holm's method over all {_tests(findings.differences)}of a dataset; “{ALL_DATASETS}” "
            "counts as one more dataset. The marks in the table of results come from the same tests. A difference is "
            "called better or worse if p is below 0.05.",
        ),
    )


def _tests(compared: pd.DataFrame) -> str:
    """`55 pairs of losses `; without the number if it differs between datasets."""
    counts = set(compared["family"])
    return f"{counts.pop()} pairs of losses " if len(counts) == 1 else "pairs of losses "


def in_short(findings: Findings) -> list[Markup]:
    """A sentence for every dataset: which losses beat the baseline, and by how much."""
    parts = findings.differences.groupby(["dataset", "baseline"], sort=False)
    return [_sentence(str(dataset), rows, str(baseline)) for (dataset, baseline), rows in parts]


def _sentence(dataset: str, rows: pd.DataFrame, baseline: str) -> Markup:
    where = Markup("Over all datasets,") if dataset == ALL_DATASETS else on(dataset)
    tested = rows[rows["significant"].notna()]
    if tested.empty:
        return Markup("{} no difference could be tested ({}).").format(where, str(rows["note"].iloc[0]))
    significant = tested[tested["significant"].astype(bool)]
    parts = []
    for part, word in (
        (significant[significant["difference"] > 0], "better"),
        (significant[significant["difference"] < 0], "worse"),
    ):
        if len(part):
            who = Markup("{} {}").format(_who(part, tested), "is" if len(part) == 1 else "are")
            parts.append(Markup("{} significantly {} than {} ({})").format(who, word, named(baseline), _span(part)))
    if parts:
        rest = len(tested) - len(significant)
        others = (
            f"; the other {in_words(rest)} {'does' if rest == 1 else 'do'} not differ significantly" if rest else ""
        )
        return Markup("{} {}{}.").format(where, joined(parts), others)
    if len(tested) == 1:
        words = "{} {} does not differ significantly from {}."
        return Markup(words).format(where, named(str(tested["loss"].iloc[0])), named(baseline))
    words = "{} none of the {} other losses differs significantly from {}."
    return Markup(words).format(where, in_words(len(tested)), named(baseline))


def _who(part: pd.DataFrame, tested: pd.DataFrame) -> Markup:
    """`arcface and cosface`, `all ten other losses` or `seven of the ten other losses`."""
    if len(part) == len(tested) > 1:
        return Markup("both other losses" if len(part) == 2 else f"all {in_words(len(part))} other losses")
    if len(part) <= MOST_NAMED:
        return joined([named(str(loss)) for loss in part["loss"]])
    return Markup("{} of the {} other losses").format(in_words(len(part)), in_words(len(tested)))


def _span(rows: pd.DataFrame) -> str:
    factor = column(str(rows["metric"].iloc[0])).factor
    low, high = (number(factor * end, signed=True) for end in (rows["difference"].min(), rows["difference"].max()))
    return f"{low} points" if len(rows) == 1 else f"{low} to {high} points"


def _ordered(table: pd.DataFrame) -> list[dict[Any, Any]]:
    order = {name: place for place, name in enumerate(table["dataset"].unique())}
    rows = table.assign(gain=table["difference"].astype(float).fillna(0.0)).to_dict("records")
    return sorted(rows, key=lambda row: (order[row["dataset"]], -row["gain"], str(row["loss"])))


def _row(row: dict[Any, Any], losses: Losses) -> Row:
    loss, dataset = str(row["loss"]), str(row["dataset"])
    return Row(
        (
            Value(loss),
            Value(dataset),
            difference_entry(row),
            *p_entries(row, "better", "worse"),
            Value(column(str(row["metric"])).heading),
        ),
        tags={"loss": loss, "dataset": dataset, "family": losses[loss].family},
    )


def p_entries(row: Any, better: str, worse: str) -> tuple[Value, ...]:
    """The entries of TEST_COLUMNS, from a row of `compare`; `better` and `worse` are the words for + and −."""
    seeds = int(row["n_seeds"])
    return Value(_result(row, better, worse)), with_p(row["p_holm"]), Value(str(seeds), seeds)


def _result(row: Any, better: str, worse: str) -> str:
    """What the test says, or why there is none."""
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
    """The same with a footnote where it is significant."""
    return Value(NOTHING) if row is None else replace(difference_entry(row), note=_remark(row))


def _remark(row: Any) -> str:
    if pd.isna(row["difference"]):
        return str(row["note"])
    if not pd.isna(row["significant"]):
        return CERTAIN if row["significant"] else ""
    outside = not pd.isna(row["low"]) and (float(row["low"]) > 0.0 or float(row["high"]) < 0.0)
    return OUTSIDE if outside else ""


def effect_notes(effects: pd.DataFrame) -> tuple[str, ...]:
    """What ± means, and how many tests are corrected for."""
    notes = [NOT_CORRECTED]
    alone = effects[effects["dataset"] != ALL_DATASETS]
    tests = int(alone["family"].max()) if len(alone) else 0
    if tests:
        apart = f", without the rows of “{ALL_DATASETS}”, which are corrected by themselves" * (
            len(alone) < len(effects)
        )
        notes.append(f"p-values are corrected by Holm's method over the {tests} tests of this table{apart}.")
    elif len(effects):
        reasons = sorted({str(note) for note in effects["note"] if note})
        notes.append(f"Nothing was tested: {'; '.join(reasons)}.")
    return tuple(notes)
