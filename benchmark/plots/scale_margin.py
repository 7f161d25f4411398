"""Heat maps of scale × margin: one picture a dataset, a panel for each loss that varies both; normface is m = 0."""

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.metrics import MetricColumn
from benchmark.plots._context import Context
from benchmark.plots._picture import Picture, Skipped, file_name
from benchmark.plots._registry import Drawn, plot
from benchmark.plots._scale_margin import means, rows_with_settings, why_no_map
from benchmark.plots._style import SMALL, panels, short, styled, wrapped
from benchmark.plots._words import in_units
from benchmark.scale_margin import REFERENCE
from benchmark.text import number

TITLE = "Scale by margin"
DARK = 0.55  # of the colour scale, beyond which text is white
FEWEST = 2  # scales and margins that a loss must have been trained at


@plot(TITLE, "scale", place=3)
def draw(material: Context) -> Drawn:
    rows = rows_with_settings(material)
    if reason := why_no_map(material, rows):
        yield Skipped("scale_margin", TITLE, reason, "scale")
        return
    found = means(rows[rows["s"].notna()], material)
    for dataset in material.datasets:
        maps = maps_of(found[found["dataset"] == dataset])
        title = f"{TITLE} on {dataset}"
        if not maps:
            reason = "no loss was trained at several scales and several margins"
            yield Skipped(file_name("scale-margin", dataset), title, reason, "scale")
            continue
        drawn = figure(maps, material.column)
        yield Picture(file_name("scale-margin", dataset), title, caption(maps, material.column), drawn, "scale")


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
        _panel(panel, grid, best, worst, column)
        panel.set_title(short(loss, 30))
    bar = drawn.colorbar(axes[0].collections[0], ax=axes, aspect=30)
    bar.set_label(wrapped(f"behind the best, {in_units(column)}".rstrip(", "), 18))
    return drawn


def _panel(axes: Axes, grid: pd.DataFrame, best: float, worst: float, column: MetricColumn) -> None:
    behind = (grid - best).abs()
    seaborn.heatmap(behind, ax=axes, cmap="Blues", vmin=0.0, vmax=worst, linewidths=0.8, cbar=False)
    for row, s in enumerate(grid.index):
        for place, m in enumerate(grid.columns):
            value = float(grid.loc[s, m])
            dark = not np.isnan(value) and float(behind.loc[s, m]) > DARK * worst
            text = "–" if np.isnan(value) else number(value, column.decimals) + (" ▲" if value == best else "")
            axes.text(place + 0.5, row + 0.5, text, ha="center", va="center", fontsize=SMALL,
                      color="white" if dark else "black")  # fmt: skip
    axes.set_yticks(np.arange(len(grid)) + 0.5, [f"{s:.3g}" for s in grid.index], rotation=0)
    headings = [f"{m:g}" if m else f"0\n({REFERENCE})" for m in grid.columns]
    axes.set_xticks(np.arange(grid.shape[1]) + 0.5, headings, rotation=0)
    axes.tick_params(length=0, labelsize=SMALL)
    axes.set(xlabel="margin m", ylabel="scale s")


def caption(maps: dict[str, pd.DataFrame], column: MetricColumn) -> str:
    """Each loss's best cell and its worst."""
    told = [
        f"Mean {column.title} over the seeds by scale and margin, coloured by how far it is behind the best (▲); a "
        "dash is a setting without a value."
    ]
    for loss, grid in maps.items():
        cells = [
            (float(grid.loc[s, m]), float(s), float(m))
            for s in grid.index
            for m in grid.columns
            if not np.isnan(float(grid.loc[s, m]))
        ]
        ends = sorted(cells, reverse=not column.lower_is_better)
        shown = [f"{number(value, column.decimals)} at s={s:.3g}, m={m:g}" for value, s, m in (ends[0], ends[-1])]
        told.append(f"{loss}: best {shown[0]}, worst {shown[1]}.")
    return " ".join(told)
