"""Exact or detached: for experiments whose rows come in pairs that differ in `gradient` alone."""

import pandas as pd

from benchmark.findings import TEST_COLUMNS, Findings, effect_entry, effect_notes, p_entries
from benchmark.report.page import Section
from benchmark.results import ExperimentResults
from benchmark.scale_margin import gradient_effects, gradient_effects_over_datasets, gradient_pairs
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import Column, Row, Table, Value

WORDS = (
    "“exact” differentiates through the margin; “detached” holds the margin's offset fixed, so that the target's slope "
    "is that of a loss without margin. Both circulate under the same names.",
)


def gradients(collected: ExperimentResults, findings: Findings) -> Section | None:
    """None where no two rows differ in `gradient` alone."""
    if not len(gradient_pairs(collected.table)) or not findings.main_columns:
        return None
    effects = gradient_effects(collected.table, findings.main_columns, findings.jackknife)
    if findings.common is not None and len(findings.main_columns) > 1:
        datasets, metric = sorted(findings.main_columns), findings.common.key
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
                *p_entries(one, "detached is better", "exact is better"),
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
            Column("Detached − exact", "main metric, in percentage points; mean over the seeds that both have"),
            *TEST_COLUMNS,
        ),
        tuple(rows),
        f"Main metric of each dataset, and the metric that all share over “{ALL_DATASETS}”, in percentage points, "
        "paired by seed and test identity.",
        effect_notes(effects),
    )
