"""Heat maps of scale × margin: a picture per dataset, a panel per loss that varies both; normface is m = 0."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots import Context, Drawn, Picture, Skipped, file_name, in_units, name_of, plot
from benchmark.plots._scale_margin import means, rows_with_settings
from benchmark.plots._style import panels, short, styled, wrapped
from benchmark.plots.heatmap import heat_map
from benchmark.scale_margin import REFERENCE
from benchmark.text import number

TITLE = "Scale by margin"
FEWEST = 2  # scales, and margins, of a loss that is drawn


@plot(TITLE, "scale", place=3)
def draw(context: Context) -> Drawn:
    rows = rows_with_settings(context)
    found = means(rows[rows["s"].notna()], context)
    for dataset in context.datasets:
        maps = maps_of(found[found["dataset"] == dataset])
        name, title = file_name("scale-margin", dataset), f"{TITLE} on {dataset}"
        if not maps:
            yield Skipped(name, title, "no loss was trained at several scales and several margins", "scale")
            continue
        words, seen = caption(context.column), finding(maps, context.column)
        yield Picture(name, title, words, figure(maps, context.column), "scale", seen)


def maps_of(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By loss: scales (down) × margins (across) → mean. A setting that diverged in every seed is NaN."""
    plain = found[found["name"] == REFERENCE].assign(m=0.0)
    maps = {}
    for variant, rows in found[found["m"].notna() & (found["name"] != REFERENCE)].groupby("variant", sort=True):
        if rows["s"].round(9).nunique() < FEWEST or rows["m"].nunique() < FEWEST:
            continue
        without = plain[plain["s"].round(9).isin(rows["s"].round(9)) & (plain["tuned"] == rows["tuned"].iloc[0])]
        both = pd.concat([without, rows])
        both = both.assign(s=both["s"].round(9)).drop_duplicates(["s", "m"])
        grid = both.pivot_table(index="s", columns="m", values="mean", dropna=False, observed=False)
        if grid.notna().to_numpy().any():
            maps[str(variant)] = grid.sort_index(ascending=False)
    return maps


@styled
def figure(maps: dict[str, pd.DataFrame], column: MetricColumn) -> Figure:
    """All panels share one colour scale: how far a setting is behind the best of them."""
    values = np.concatenate([grid.to_numpy(dtype=float).ravel() for grid in maps.values()])
    best = float(np.nanmin(values) if column.lower_is_better else np.nanmax(values))
    worst = float(np.nanmax(np.abs(values - best))) or 1.0
    tallest = max(len(grid) for grid in maps.values())
    drawn, axes = panels(len(maps), 0.32 * tallest + 0.9, most_columns=3)
    for panel, (loss, grid) in zip(axes, maps.items(), strict=True):
        texts = grid.map(
            lambda value: "–" if np.isnan(value) else number(value, column.decimals) + " ▲" * (value == best)
        )
        heat_map(panel, (grid - best).abs(), worst, texts, cbar=False)
        panel.set_yticklabels([f"{s:.3g}" for s in grid.index])
        panel.set_xticklabels([f"{m:g}" if m else f"0\n({REFERENCE})" for m in grid.columns])
        panel.set(xlabel="margin m", ylabel="scale s", title=short(loss, 30))
    bar = drawn.colorbar(axes[0].collections[0], ax=axes, aspect=30)
    bar.set_label(wrapped(f"behind the best{in_units(column)}", 18))
    return drawn


def caption(column: MetricColumn) -> str:
    """How to read the picture."""
    return (
        f"Mean {name_of(column)} over the seeds by scale and margin; the stronger the blue, the farther behind the "
        f"best (▲). A dash is a setting without a value. Margin 0 is {REFERENCE}."
    )


def finding(maps: dict[str, pd.DataFrame], column: MetricColumn) -> str:
    """The best and the worst setting of each loss."""
    found = []
    for loss, grid in maps.items():
        cells = [(mean, s, m) for m, of_margin in grid.items() for s, mean in of_margin.dropna().items()]
        ends = sorted(cells, reverse=not column.lower_is_better)
        shown = [f"{number(value, column.decimals)} at s={s:.3g}, m={m:g}" for value, s, m in (ends[0], ends[-1])]
        found.append(f"{loss} is best with {shown[0]} and worst with {shown[1]}.")
    return " ".join(found)
