"""Scale: a metric against s, normface beside the losses with a margin, each at the margin that validation chose."""

import pandas as pd
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, by_dataset, name_of, plot
from benchmark.plots._scale_margin import figure_over_scales, in_front_of, in_grey, means, rows_with_settings
from benchmark.plots._style import looks, styled
from benchmark.scale_margin import REFERENCE, scales_of
from benchmark.text import listed, number

TITLE = "Scale"


@plot(TITLE, "scale", place=1)
def draw(context: Context) -> Drawn:
    drawn, column = best_margins(scales_of(rows_with_settings(context)), context), context.column
    if not len(drawn):
        raise NothingToDrawError(f"no setting at several scales has a {name_of(column)}")
    yield Picture("scale", TITLE, caption(drawn, column), figure(drawn, column), "scale", finding(drawn, column))


def best_margins(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Of each loss, dataset and scale the margin whose validation mean is best; without validation, the smallest."""
    key, sign = context.column.on("val").key, -1.0 if context.column.lower_is_better else 1.0
    found = means(rows, context).dropna(subset=["mean"])
    on_validation = rows.groupby(["dataset", "loss"])[key].mean() if key in rows else pd.Series(dtype=float)
    places = pd.MultiIndex.from_frame(found[["dataset", "loss"]])
    found = found.assign(value=sign * on_validation.reindex(places).to_numpy(dtype=float))
    ordered = found.sort_values(["value", "m"], ascending=[False, True], na_position="last", kind="stable")
    return ordered.drop_duplicates(["dataset", "title", "s"]).sort_values(["dataset", "title", "s"], ignore_index=True)


@styled
def figure(drawn: pd.DataFrame, column: MetricColumn) -> Figure:
    """A panel for each dataset; the vertical lines are the 95 % intervals."""
    names = dict(zip(drawn["title"], drawn["name"], strict=True))
    result = figure_over_scales(drawn, "title", "mean", looks(names, REFERENCE, names), _in_front(drawn, column))
    result.supylabel(column.title)
    return result


def _in_front(drawn: pd.DataFrame, column: MetricColumn) -> list[str]:
    return in_front_of(drawn, "title", "mean", [REFERENCE], column.lower_is_better)


def caption(drawn: pd.DataFrame, column: MetricColumn) -> str:
    """How to read the picture."""
    return (
        f"{column.heading} against the scale s, mean over the seeds; vertical lines are 95 % intervals, and "
        "one that reaches the edge of a panel goes on beyond it. A loss with several margins is shown at each scale "
        "with the margin that is best on validation data."
        f"{in_grey(drawn, 'title', _in_front(drawn, column))}"
    )


def finding(drawn: pd.DataFrame, column: MetricColumn) -> str:
    """On each dataset, the best scale of the reference and of the best loss."""
    found = {}
    for dataset, rows in drawn.groupby("dataset"):
        best = rows.loc[rows.groupby("title")["mean"].agg("idxmin" if column.lower_is_better else "idxmax")]
        best = best.sort_values("mean", ascending=column.lower_is_better, kind="stable")
        shown = best[(best["title"] == REFERENCE) | (best["title"] == best["title"].iloc[0])]
        parts = zip(shown["title"], shown["mean"], shown["s"], strict=True)
        words = [f"{name} at s={s:.3g} ({number(float(mean), column.decimals)})" for name, mean, s in parts]
        found[str(dataset)] = f"the best {'is' if len(words) == 1 else 'are'} {listed(words)}"
    return by_dataset(found)
