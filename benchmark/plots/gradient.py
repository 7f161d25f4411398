"""Exact or detached: every loss's detached form minus its exact one, as a forest plot."""

import pandas as pd

from benchmark.plots._context import Context
from benchmark.plots._picture import Picture, Skipped
from benchmark.plots._registry import Drawn, plot
from benchmark.plots._scale_margin import metric_columns
from benchmark.plots._words import name_of
from benchmark.plots.forest import caption, figure
from benchmark.scale_margin import gradient_effects, gradient_effects_over_datasets, gradient_pairs

TITLE = "Detached minus exact"
OTHER = "its exact form"


@plot(TITLE, "gradient", place=1)
def draw(material: Context) -> Drawn:
    if not len(gradient_pairs(material.table)):
        reason = "no two rows differ in the gradient alone"
        yield Skipped("gradient", TITLE, reason, "gradient")
        return
    compared = effects(material)
    if compared["difference"].isna().all():
        yield Skipped("gradient", TITLE, f"no seed has a {name_of(material.column)} of both forms", "gradient")
        return
    yield Picture("gradient", TITLE, caption(compared, OTHER), figure(compared), "gradient")


def effects(material: Context) -> pd.DataFrame:
    """As the forest plot wants them: each loss by its own title, against its exact form."""
    known, jackknife = metric_columns(material), material.collected.jackknife
    found = gradient_effects(material.table, known, jackknife)
    if len(known) > 1:
        overall = gradient_effects_over_datasets(material.table, sorted(known), material.metric, jackknife)
        found = pd.concat([found, overall], ignore_index=True) if len(overall) else found
    return found.assign(loss=found["title"], baseline=OTHER)
