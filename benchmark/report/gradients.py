"""Exact or detached: for experiments whose rows come in pairs that differ in `gradient` alone."""

from typing import Any

import pandas as pd

from benchmark.findings.findings import Findings
from benchmark.report.effect_entry import effect_entry, effect_notes
from benchmark.report.section import Section
from benchmark.results import ExperimentResults
from benchmark.scale_margin import gradient_effects, gradient_effects_over_datasets, gradient_pairs
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import Column, Row, Table, Value, with_error

WORDS = (
    "“exact” differentiates through the margin; “detached” holds the margin's offset fixed, so that the target's slope "
    "is that of a loss without margin. Both circulate under the same names.",
)


def gradients(collected: ExperimentResults, findings: Findings) -> Section | None:
    """None where no two rows differ in `gradient` alone."""
    if not len(gradient_pairs(collected.table)) or not findings.figures:
        return None
    effects = gradient_effects(collected.table, findings.figures, findings.jackknife)
    if findings.common is not None and len(findings.figures) > 1:
        datasets, metric = sorted(findings.figures), findings.common.key
        overall = gradient_effects_over_datasets(collected.table, datasets, metric, findings.jackknife)
        effects = pd.concat([effects, overall], ignore_index=True) if len(overall) else effects
    return Section("gradient", "Exact or detached gradients", WORDS, (exact_or_detached(effects),))


def exact_or_detached(effects: pd.DataFrame) -> Table:
    """detached − exact, a line for each loss and dataset."""
    rows = [
        Row(
            (
                Value(str(one["title"])),
                Value(str(one["dataset"])),
                effect_entry(one),
                with_error(None if pd.isna(one["p_holm"]) else float(one["p_holm"]), decimals=3),
                Value(str(one["n_seeds"]), int(one["n_seeds"])),
                Value(in_words(one)),
            ),
            tags={"dataset": str(one["dataset"])},
        )
        for one in effects.sort_values(["dataset", "title"], kind="stable").to_dict("records")
    ]
    return Table(
        "exact-or-detached",
        "Detached minus exact",
        (
            Column("Loss", numeric=False),
            Column("Dataset", numeric=False),
            Column("Detached − exact", "main figure, in percentage points; mean over the seeds that both have"),
            Column("p (Holm)", "how often chance alone would give such a difference, corrected"),
            Column("Seeds", "pairs of runs"),
            Column("In words", numeric=False),
        ),
        tuple(rows),
        f"Main figure of each dataset, and the figure that all share over “{ALL_DATASETS}”, in percentage points, "
        "paired by seed and test identity.",
        effect_notes(effects),
    )


def in_words(row: Any) -> str:
    if pd.isna(row["significant"]):
        return str(row["note"])
    if not row["significant"]:
        return str(row["note"]) or "not told apart"
    return "detached is better" if float(row["difference"]) > 0.0 else "exact is better"
