"""Every loss against the baseline: paired differences, their intervals, and which of them survive correction."""

from typing import Any

import pandas as pd
from markupsafe import Markup

from benchmark.findings.effect_entry import NOT_CORRECTED, TEST_COLUMNS, difference_entry, p_entries
from benchmark.findings.findings import Findings
from benchmark.findings.main_table import Losses
from benchmark.findings.markup import joined, named, on
from benchmark.metrics import column
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import Column, Row, Table, Value
from benchmark.text import in_words, number


def why_no_differences(findings: Findings) -> str:
    """The reason, or nothing if there are differences to show."""
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
    family = findings.differences[findings.differences["dataset"] != ALL_DATASETS]["family"].max()
    notes = [
        NOT_CORRECTED,
        f"p is corrected by Holm's method over the {family} tests of all losses and datasets (rows of “{ALL_DATASETS}” "
        "apart); a difference is called better or worse if it is below 0.05.",
    ]
    tuned = sorted(set(findings.baselines.values()))
    others = "".join(f", the other tuned rows minus {name}" for name in tuned)
    return Table(
        "differences",
        "Differences from the baselines" if tuned else f"Differences from {findings.baseline}",
        (
            Column("Loss", numeric=False),
            Column("Dataset", numeric=False),
            Column("Metric", numeric=False),
            Column("Difference", "loss − baseline, in percentage points; mean over the seeds that both have"),
            *TEST_COLUMNS,
        ),
        tuple(rows),
        f"Each loss minus {findings.baseline}{others}, in percentage points, paired by seed and test identity.",
        tuple(notes),
    )


def in_short(findings: Findings) -> list[Markup]:
    """A sentence for every dataset: how many losses beat the baseline, and by how much."""
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
        return Markup("{} {}.").format(where, joined(parts))
    if len(tested) == 1:
        words = "{} {} does not differ significantly from {}."
        return Markup(words).format(where, named(str(tested["loss"].iloc[0])), named(baseline))
    words = "{} none of the {} other losses differs significantly from {}."
    return Markup(words).format(where, in_words(len(tested)), named(baseline))


def _who(part: pd.DataFrame, tested: pd.DataFrame) -> Markup:
    """`arcface`, `all ten other losses` or `seven of the ten other losses`."""
    if len(part) == 1:
        return named(str(part["loss"].iloc[0]))
    if len(part) == len(tested):
        return Markup("both other losses" if len(part) == 2 else f"all {in_words(len(part))} other losses")
    return Markup("{} of the {} other losses").format(in_words(len(part)), in_words(len(tested)))


def _span(rows: pd.DataFrame) -> str:
    factor = column(str(rows["metric"].iloc[0])).factor
    low, high = (number(factor * end, signed=True) for end in (rows["difference"].min(), rows["difference"].max()))
    return f"{low} points" if len(rows) == 1 else f"{low} to {high} points"


def _ordered(table: pd.DataFrame) -> list[dict[Any, Any]]:
    order = {name: place for place, name in enumerate(table["dataset"].unique())}
    rows = table.to_dict("records")
    return sorted(rows, key=lambda row: (order[row["dataset"]], -_or_zero(row["difference"]), str(row["loss"])))


def _or_zero(value: Any) -> float:
    return 0.0 if pd.isna(value) else float(value)


def _row(row: dict[Any, Any], losses: Losses) -> Row:
    loss, dataset = str(row["loss"]), str(row["dataset"])
    return Row(
        (
            Value(loss),
            Value(dataset),
            Value(column(str(row["metric"])).heading),
            difference_entry(row),
            *p_entries(row, "better", "worse"),
        ),
        tags={"loss": loss, "dataset": dataset, "family": losses[loss].family},
    )
