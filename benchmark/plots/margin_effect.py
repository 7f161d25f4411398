"""What a margin adds at the same scale: loss − normface against s, with intervals."""

import pandas as pd
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, NothingToDrawError, Picture, file_name, plot
from benchmark.plots._context import by_dataset, in_units, intervals_in_words, name_of
from benchmark.plots._scale_margin import effects_of, figure_over_scales, in_front_of, in_grey, rows_with_settings
from benchmark.plots._style import looks, styled
from benchmark.scale_margin import REFERENCE, margin_effects, margin_effects_over_datasets, why_no_margin_effects
from benchmark.text import counted, number

TITLE = "What the margin adds at the same scale"
OTHERS = "losses with one margin"


@plot(TITLE, "scale", place=2)
def draw(context: Context) -> Drawn:
    rows = rows_with_settings(context)
    if reason := why_no_margin_effects(rows):
        raise NothingToDrawError(reason)
    effects = effects_of(context, rows, margin_effects, margin_effects_over_datasets, "sides")
    for title, part in groups(effects[effects["difference"].notna()]).items():
        words, drawn = caption(part, context.column), figure(part, context.column)
        seen = finding(part, context.column)
        yield Picture(file_name("margin-effect", title), f"{TITLE}: {title}", words, drawn, "scale", seen)


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
    """A panel for each dataset; above 0 the margin helps."""
    ends = ["difference", "low", "high"]
    scaled = effects.assign(**{end: column.factor * effects[end].astype("Float64") for end in ends})
    front = _in_front(effects, column)
    of_lines = looks(front, "", dict(zip(effects["line"], effects["name"], strict=True)))
    drawn = figure_over_scales(scaled, "line", "difference", of_lines, front, zero=True)
    drawn.supylabel(f"{name_of(column)}:\nloss − {REFERENCE}{in_units(column)}")
    return drawn


def _in_front(effects: pd.DataFrame, column: MetricColumn) -> list[str]:
    return in_front_of(effects, "line", "difference", [], column.lower_is_better)


def caption(effects: pd.DataFrame, column: MetricColumn) -> str:
    """How to read the picture."""
    side = "Below" if column.lower_is_better else "Above"
    return (
        f"{column.heading} minus that of {REFERENCE} at the same scale{in_units(column, ' in ')}, paired by seed. "
        f"{intervals_in_words(effects['carries'])} {side} 0 the margin helps, "
        "clearly where the whole interval is there. An interval that reaches the edge of a panel goes on beyond it."
        f"{in_grey(effects, 'line', _in_front(effects, column))}"
    )


def finding(effects: pd.DataFrame, column: MetricColumn) -> str:
    """On each dataset, how often the margin helps (an interval on the better side of 0), and where most."""
    return by_dataset({str(dataset): _how_often(rows, column) for dataset, rows in effects.groupby("dataset")})


def _how_often(rows: pd.DataFrame, column: MetricColumn) -> str:
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
    settings = counted(len(rows), "setting")
    return f"the difference is {span}; of {settings}, the margin clearly helps in {counts[0]} and hurts in {counts[1]}"
