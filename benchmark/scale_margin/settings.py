"""The scale and the margin of each row of an experiment: given, by default, or from the number of classes."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pandas as pd

import losses
from benchmark.spec.values import TUNED
from benchmark.spec.values import with_settings as labelled
from benchmark.text import natural_places

FEWEST = 2  # scales of a loss that count as several


def with_settings(table: pd.DataFrame, classes: Mapping[str, int]) -> pd.DataFrame:
    """The tidy frame with the columns s and m, NaN where a loss has none, adapts it, or has several margins; and with
    `variant`, the loss with whatever else was given. Where there are tuned rows and others, `variant` and `title`, the
    loss's name, say which is which.

    `classes` are the training classes of each dataset, which s="auto" goes by.
    """
    found = [
        scale_and_margin(str(name), str(hyper), classes[str(dataset)])
        for name, hyper, dataset in zip(table["name"], table["hyper"], table["dataset"], strict=True)
    ]
    tuned = table["tuned"]
    marks = tuned.map({True: TUNED, False: ""}) if tuned.any() and not tuned.all() else pd.Series("", table.index)
    variants = [variant(str(name), str(hyper)) for name, hyper in zip(table["name"], table["hyper"], strict=True)]
    return table.assign(
        s=pd.Series([s for s, _ in found], table.index, dtype=float),
        m=pd.Series([m for _, m in found], table.index, dtype=float),
        title=table["name"].astype(str) + marks,
        variant=pd.Series(variants, table.index, dtype=object) + marks,
    )


@cache
def scale_and_margin(name: str, hyper: str, classes: int) -> tuple[float | None, float | None]:
    """s and m of a loss whose given hyper-parameters are the JSON text `hyper`, read from the loss itself."""
    head = losses.create(name, num_classes=classes, dim=2, **json.loads(hyper))
    return _plain(head, "s"), _plain(head, head.margin_name)


def all_settings(name: str, hyper: str) -> dict[str, Any]:
    """Every hyper-parameter, given or by default."""
    declared = {key: one.default for key, one in losses.get(name).hyper.items()}
    return {**declared, **json.loads(hyper)}


@cache
def variant(name: str, hyper: str) -> str:
    """`arcface`, or `arcface gradient=detached`: the loss with the settings given that are neither s nor m."""
    given, shown = json.loads(hyper), ("s", losses.get(name).margin_name)
    return labelled(name, {key: given[key] for key in given if key not in shown})


def scales_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of losses that were trained at several scales on a dataset, with the same margin."""
    known = rows[rows["s"].notna()]
    groups = known.assign(scale=known["s"].round(9)).groupby(["dataset", "variant", "m"], dropna=False)
    counts = groups["scale"].transform("nunique")
    return known[counts >= FEWEST]


def why_no_scales(rows: pd.DataFrame) -> str:
    """The reason; empty if some loss was trained at several scales."""
    if rows["s"].notna().sum() == 0:
        return "no loss with a fixed scale was run"
    return "" if len(scales_of(rows)) else "every loss has one scale only on each dataset"


def natural(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """A key for `sort_values`: datasets are sorted in natural order, every other column as it is."""
    return column.map(natural_places(column)) if column.name == "dataset" else column


def _plain(head: losses.Head, name: str) -> float | None:
    """A setting that is one constant number; an adaptive one is a tensor."""
    value = getattr(head, name, None)
    return float(value) if isinstance(value, int | float) else None
