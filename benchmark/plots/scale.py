"""Scale: a metric against s, normface beside the losses with a margin, each at the margin that validation chose."""

import pandas as pd
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, name_of, plot
from benchmark.plots._scale_margin import figure_over_scales, means, rows_with_settings
from benchmark.plots._style import styled
from benchmark.scale_margin import REFERENCE, scales_of
from benchmark.text import listed, number

TITLE = "Scale"


@plot(TITLE, "scale", place=1)
def draw(material: Context) -> Drawn:
    drawn = best_margins(scales_of(rows_with_settings(material)), material)
    if not len(drawn):
        raise NothingToDrawError(f"no setting at several scales has a {name_of(material.column)}")
    yield Picture("scale", TITLE, caption(drawn, material.column), figure(drawn, material.column), "scale")


def best_margins(rows: pd.DataFrame, material: Context) -> pd.DataFrame:
    """Of each loss, dataset and scale the margin whose validation mean is best; without validation, the smallest."""
    key, sign = material.column.on("val").key, -1.0 if material.column.lower_is_better else 1.0
    found = means(rows, material).dropna(subset=["mean"])
    on_validation = rows.groupby(["dataset", "loss"])[key].mean() if key in rows else pd.Series(dtype=float)
    places = pd.MultiIndex.from_frame(found[["dataset", "loss"]])
    found = found.assign(value=sign * on_validation.reindex(places).to_numpy(dtype=float))
    ordered = found.sort_values(["value", "m"], ascending=[False, True], na_position="last", kind="stable")
    return ordered.drop_duplicates(["dataset", "title", "s"]).sort_values(["dataset", "title", "s"], ignore_index=True)


@styled
def figure(drawn: pd.DataFrame, column: MetricColumn) -> Figure:
    """A panel a dataset; the vertical lines are the 95 % intervals."""
    result = figure_over_scales(drawn, "title", "mean", REFERENCE, height=2.3, nudge=0.048, width=0.8)
    result.supylabel(column.title)
    return result


def caption(drawn: pd.DataFrame, column: MetricColumn) -> str:
    """Where each loss is best."""
    told = [
        f"{column.heading} against the scale s, mean over the seeds with the 95 % interval; a loss with several "
        "margins is shown, at each scale, with the margin that is best on validation data."
    ]
    for dataset, rows in drawn.groupby("dataset", sort=False):
        best = rows.loc[rows.groupby("title")["mean"].agg("idxmin" if column.lower_is_better else "idxmax")]
        parts = zip(best["title"], best["mean"], best["s"], strict=True)
        shown = [f"{name} {number(float(mean), column.decimals)} at s={s:.3g}" for name, mean, s in parts]
        told.append(f"{dataset}: best are {listed(shown)}.")
    return " ".join(told)
