"""Exact and detached gradients: rows that differ only in `gradient`, paired by seed and test identity."""

import json
from collections.abc import Mapping

import pandas as pd

from benchmark.metrics import MetricColumn
from benchmark.scale_margin.effects import effects_of, effects_over_datasets
from benchmark.scale_margin.settings import all_settings, natural
from benchmark.spec.values import TUNED
from benchmark.spec.values import with_settings as labelled
from benchmark.statistics import Jackknife

GRADIENT, EXACT, DETACHED = "gradient", "exact", "detached"


def gradient_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """dataset, title, detached, exact: the labels of two rows that are the same loss with the same other settings."""
    each = table.drop_duplicates(["dataset", "loss"])
    known: dict[tuple[str, str], dict[str, str]] = {}
    titles: dict[str, str] = {}
    kept = zip(*(each[key] for key in ("dataset", "loss", "name", "hyper", "tuned")), strict=True)
    for dataset, loss, name, hyper, tuned in kept:
        settings = all_settings(str(name), str(hyper))
        gradient = settings.pop(GRADIENT, None)
        if gradient in (EXACT, DETACHED):
            key = json.dumps([name, settings, bool(tuned)], sort_keys=True)
            known.setdefault((str(dataset), key), {}).setdefault(gradient, str(loss))
            given = {part: value for part, value in json.loads(str(hyper)).items() if part != GRADIENT}
            titles[key] = labelled(str(name), given) + (TUNED if tuned and not table["tuned"].all() else "")
    rows = [
        {"dataset": dataset, "title": titles[key], DETACHED: labels[DETACHED], EXACT: labels[EXACT]}
        for (dataset, key), labels in known.items()
        if len(labels) == 2
    ]
    return pd.DataFrame(rows, columns=["dataset", "title", DETACHED, EXACT]).sort_values(
        ["dataset", "title"], key=natural, ignore_index=True
    )


def gradient_effects(
    table: pd.DataFrame, metric_columns: Mapping[str, MetricColumn], jackknife: Jackknife | None = None
) -> pd.DataFrame:
    """detached − exact for every pair, with the columns of `compare_pairs` and the pair's `title`."""
    return effects_of(table, _as_pairs(table), metric_columns, jackknife)


def gradient_effects_over_datasets(
    table: pd.DataFrame, datasets: list[str], metric: str, jackknife: Jackknife | None = None
) -> pd.DataFrame:
    """The same for the mean over datasets, for the pairs that exist on all of them."""
    return effects_over_datasets(table, _as_pairs(table), datasets, metric, jackknife)


def _as_pairs(table: pd.DataFrame) -> pd.DataFrame:
    return gradient_pairs(table).rename(columns={DETACHED: "loss", EXACT: "baseline"})
