"""Exact or detached: every loss's detached form minus its exact one, as a forest plot."""

from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, plot
from benchmark.plots._scale_margin import effects_of
from benchmark.plots.forest import caption, figure, finding
from benchmark.scale_margin import gradient_effects, gradient_effects_over_datasets, gradient_pairs

TITLE = "Detached minus exact"
OTHER = "its exact form"


@plot(TITLE, "gradient", place=1)
def draw(context: Context) -> Drawn:
    if not len(gradient_pairs(context.table)):
        raise NothingToDrawError("no two rows differ in the gradient alone")
    found = effects_of(context, context.table, gradient_effects, gradient_effects_over_datasets, "forms")
    compared = found.assign(loss=found["title"], baseline=OTHER)  # each loss by its own title, against its exact form
    yield Picture("gradient", TITLE, caption(compared), figure(compared), "gradient", finding(compared))
