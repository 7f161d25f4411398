"""What a margin adds at the same scale: loss − normface against s, with intervals."""

import pandas as pd
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, file_name, plot
from benchmark.plots._context import in_units, intervals_in_words, name_of
from benchmark.plots._scale_margin import effects_of, figure_over_scales, rows_with_settings
from benchmark.plots._style import SMALL, styled
from benchmark.scale_margin import REFERENCE, margin_effects, margin_effects_over_datasets, why_no_margin_effects
from benchmark.statistics import ALL_DATASETS
from benchmark.text import counted, number

TITLE = "What the margin adds at the same scale"
OTHERS = "losses with one margin"


@plot(TITLE, "scale", place=2)
def draw(material: Context) -> Drawn:
    rows = rows_with_settings(material)
    if reason := why_no_margin_effects(rows):
        raise NothingToDrawError(reason)
    effects = effects_of(material, rows, margin_effects, margin_effects_over_datasets, "sides")
    for title, part in groups(effects[effects["difference"].notna()]).items():
        words, drawn = caption(part, material.column), figure(part, material.column)
        yield Picture(file_name("margin-effect", title), f"{TITLE}: {title}", words, drawn, "scale")


def groups(effects: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A picture for each loss with several margins, its lines by m; one for all the others, theirs by loss."""
    margins = effects.groupby("variant")["m"].nunique()
    several = [str(variant) for variant in margins.index if margins[variant] > 1]
    found = {}
    for variant in several:
        part = effects[effects["variant"] == variant]
        found[variant] = part.assign(line=[f"m={m:g}" for m in part["m"]])
    rest = effects[~effects["variant"].isin(several)]
    return {**found, **({OTHERS: rest.assign(line=rest["variant"])} if len(rest) else {})}


@styled
def figure(effects: pd.DataFrame, column: MetricColumn) -> Figure:
    """A panel a dataset; above 0 the margin helps."""
    ends = ["difference", "low", "high"]
    scaled = effects.assign(**{end: column.factor * effects[end].astype("Float64") for end in ends})
    drawn = figure_over_scales(scaled, "line", "difference", "", height=2.2, nudge=0.05, width=0.9)
    drawn.supylabel(f"{name_of(column)}:\nloss − {REFERENCE}{in_units(column)}", fontsize=SMALL)
    return drawn


def caption(effects: pd.DataFrame, column: MetricColumn) -> str:
    """How often the margin helps, and where most."""
    carries = intervals_in_words(effects["carries"])
    side = "Below" if column.lower_is_better else "Above"
    told = [
        f"{column.heading} minus that of {REFERENCE} at the same scale{in_units(column, ' in ')}, paired ({carries}). "
        f"{side} 0 the margin helps."
    ]
    for dataset, rows in effects.groupby("dataset", sort=False):
        where = "All datasets together" if dataset == ALL_DATASETS else str(dataset)
        told.append(f"{where}: {_told(rows, column)}.")
    return " ".join(told)


def _told(rows: pd.DataFrame, column: MetricColumn) -> str:
    better = (rows["high"] < 0.0) if column.lower_is_better else (rows["low"] > 0.0)
    worse = (rows["low"] > 0.0) if column.lower_is_better else (rows["high"] < 0.0)
    counts = [int(part.fillna(False).sum()) for part in (better, worse)]
    ends = rows.loc[[rows["difference"].astype(float).idxmin(), rows["difference"].astype(float).idxmax()]]
    parts = zip(ends["line"], ends["s"], ends["difference"], strict=True)
    shown = [
        f"{number(column.factor * float(difference), column.decimals, signed=True)} ({line}, s={s:.3g})"
        for line, s, difference in parts
    ]
    span = shown[0] if len(rows) == 1 else " to ".join(shown)
    return (
        f"from {span}; of {counted(len(rows), 'setting')} the interval lies wholly on the better side of 0 for "
        f"{counts[0]}, on the worse for {counts[1]}"
    )
