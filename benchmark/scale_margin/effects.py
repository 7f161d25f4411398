"""The effect of a margin at the same scale: each loss minus normface at the same s, paired by seed and identity."""

from collections.abc import Mapping

import pandas as pd

import losses
from benchmark.metrics import MetricColumn
from benchmark.scale_margin.settings import natural
from benchmark.statistics import Jackknife, Pairing, compare_pairs, compare_pairs_over_datasets

REFERENCE = "normface"
"""The loss without a margin that all others are compared with."""
SAME_SCALE = 9  # decimals in which equal scales agree
KEYS = ["dataset", "loss", "name", "title", "variant", "tuned", "s", "m"]
SHOWN = ["dataset", "loss", "baseline", "name", "variant", "s", "m"]


def margin_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """dataset, loss, baseline, s, m and so on: every row with a margin and normface's at the same scale, both tuned or
    neither.

    Only losses whose s is the factor of the cosines count, not those whose s scales angles or powers of cosines.
    """
    each = rows.drop_duplicates(["dataset", "loss"])[KEYS].dropna(subset=["s"])
    each = each.assign(scale=each["s"].round(SAME_SCALE))
    plain = each[each["name"] == REFERENCE].drop_duplicates(["dataset", "scale", "tuned"])
    plain = plain[["dataset", "scale", "tuned", "loss"]].rename(columns={"loss": "baseline"})
    with_margin = each[[issubclass(losses.get(name), losses.MarginHead) for name in each["name"]]]
    paired = with_margin.merge(plain, on=["dataset", "scale", "tuned"])
    ordered = paired.sort_values(["dataset", "name", "m", "s", "loss"], key=natural, ignore_index=True)
    return ordered[[*KEYS, "baseline"]]


def margin_effects(
    rows: pd.DataFrame, metric_columns: Mapping[str, MetricColumn], jackknife: Jackknife | None = None
) -> pd.DataFrame:
    """The rows of `margin_pairs` with the columns of `compare_pairs`, each dataset by its own metric."""
    return effects_of(rows, margin_pairs(rows)[SHOWN], metric_columns, jackknife)


def margin_effects_over_datasets(
    rows: pd.DataFrame, datasets: list[str], metric: str, jackknife: Jackknife | None = None
) -> pd.DataFrame:
    """The same for the mean over datasets, for the pairs that exist on all of them at one scale."""
    return effects_over_datasets(rows, margin_pairs(rows)[SHOWN], datasets, metric, jackknife)


def effects_of(
    rows: pd.DataFrame, pairs: pd.DataFrame, metric_columns: Mapping[str, MetricColumn], jackknife: Jackknife | None
) -> pd.DataFrame:
    """loss − baseline for every pair whose dataset has a metric, with the other columns of `pairs`."""
    pairs = pairs[pairs["dataset"].isin(list(metric_columns))]
    pairings = [
        Pairing(loss, baseline, dataset, metric_columns[dataset].key)
        for loss, baseline, dataset in zip(pairs["loss"], pairs["baseline"], pairs["dataset"], strict=True)
    ]
    return _beside(compare_pairs(rows, pairings, jackknife), pairs)


def effects_over_datasets(
    rows: pd.DataFrame, pairs: pd.DataFrame, datasets: list[str], metric: str, jackknife: Jackknife | None
) -> pd.DataFrame:
    """The same for the mean over datasets, for the pairs that exist on all of them, at one scale if `pairs` has it."""
    pairs = pairs[pairs["dataset"].isin(datasets)]
    counts = pairs.groupby([key for key in ("loss", "baseline", "s") if key in pairs])["dataset"].transform("nunique")
    common = pairs[counts == len(datasets)].drop_duplicates(["loss", "baseline"])
    both = list(zip(common["loss"], common["baseline"], strict=True))
    return _beside(compare_pairs_over_datasets(rows, both, datasets, metric, jackknife), common)


def why_no_margin_effects(rows: pd.DataFrame) -> str:
    """The reason; empty if there is something to compare."""
    if REFERENCE not in set(rows["name"]):
        return f"{REFERENCE}, which has no margin, was not run"
    if not len(margin_pairs(rows)):
        return f"no loss with a margin was run at a scale that {REFERENCE} was run at"
    return ""


def _beside(compared: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Both have one row per pair, in the same order."""
    return compared.assign(**{str(key): pairs[key].to_numpy() for key in pairs if key not in compared})
