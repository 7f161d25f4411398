"""Exact or detached gradients, for experiments with pairs of rows that differ only in `gradient`."""

from typing import Any

import pandas as pd

from benchmark.findings import TEST_COLUMNS, Findings, effect_entry, effect_notes, p_entries
from benchmark.report.page import Section
from benchmark.results import ExperimentResults
from benchmark.scale_margin import gradient_effects, gradient_effects_over_datasets, gradient_pairs
from benchmark.statistics import ALL_DATASETS
from benchmark.tables import Column, Row, Table, Value
from benchmark.text import natural_places

WORDS = (
    "“exact” differentiates through the margin. “detached” treats the offset of the margin as a constant, so the slope "
    "of the target's logit is that of a loss without margin. Released code uses both under the same names.",
)


def gradients(collected: ExperimentResults, findings: Findings) -> Section | None:
    """None if no two rows differ only in `gradient`."""
    if not len(gradient_pairs(collected.table)) or not findings.main_columns:
        return None
    effects = gradient_effects(collected.table, findings.main_columns, findings.jackknife)
    if findings.common is not None and len(findings.main_columns) > 1:
        datasets, metric = list(findings.main_columns), findings.common.key
        overall = gradient_effects_over_datasets(collected.table, datasets, metric, findings.jackknife)
        effects = pd.concat([effects, overall], ignore_index=True) if len(overall) else effects
    return Section("gradient", "Exact or detached gradients", WORDS, (exact_or_detached(effects),))


def exact_or_detached(effects: pd.DataFrame) -> Table:
    """detached − exact, a row for each loss and dataset."""
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
        for one in _ordered(effects)
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
        f"In percentage points, paired by seed and test identity. The metric is the main one of each dataset, and for "
        f"“{ALL_DATASETS}” the one that all datasets have.",
        effect_notes(effects),
    )


def _ordered(effects: pd.DataFrame) -> list[dict[Any, Any]]:
    """Datasets in natural order, the mean over all of them last."""
    places = natural_places(effects["dataset"])
    rows = effects.to_dict("records")
    return sorted(rows, key=lambda one: (one["dataset"] == ALL_DATASETS, places[one["dataset"]], str(one["title"])))
