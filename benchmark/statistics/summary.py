"""Mean and interval over seeds of every loss on every dataset."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchmark.statistics.measurements import (
    ALL_DATASETS,
    IDENTITIES,
    PAIRS,
    Estimate,
    Jackknife,
    arrange_all,
    check_results,
    mean_over_datasets,
)

LEVEL = 0.95
SEEDS, SEEDS_AND_IDENTITIES, SEEDS_AND_PAIRS = "seeds", "seeds and identities", "seeds and pairs"
MIXED = "seeds, identities and pairs"
"""What an interval can carry: the values of the column `carries`, which is empty where there is no interval."""
CARRIED = {
    SEEDS: "seeds",
    SEEDS_AND_IDENTITIES: "seeds and test identities",
    SEEDS_AND_PAIRS: "seeds and test pairs (interval by pairs: identities unknown)",
    MIXED: "seeds and test identities, or test pairs where identities are unknown",
}
_OF_UNITS = {IDENTITIES: SEEDS_AND_IDENTITIES, PAIRS: SEEDS_AND_PAIRS}


def summarise(
    results: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    jackknife: Jackknife | None = None,
    level: float = LEVEL,
    overall: bool = False,
) -> pd.DataFrame:
    """One row for each loss, dataset and metric: `mean`, `low` … `high` and what the interval carries.

    The interval is Student's t; `carries` is SEEDS, or SEEDS_AND_IDENTITIES where `jackknife` has them, or
    SEEDS_AND_PAIRS where the column `identities` of `results` says "unknown". `half_width` is
    half of it, `sd_seeds` the standard deviation over seeds, `left_out` the runs without a value. What cannot be given
    is <NA>, and `note` says why. `results`, `metrics`, `jackknife`, `level` and errors are those of `compare`. With
    `overall` and several datasets, there is also a row for the plain mean over these very datasets.

    >>> values = {"a": [0.91, 0.93, 0.92, 0.94, 0.92], "b": [0.90, 0.91, 0.91, 0.92, 0.90]}
    >>> runs = [(loss, "digits", seed, value) for loss in values for seed, value in enumerate(values[loss])]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> summarise(results)["mean"].round(3).tolist()
    [0.924, 0.908]
    """
    rows = []
    for metric in check_results(results, metrics):
        measured = arrange_all(results, metric, jackknife)
        found = {(loss, name): part.of(loss) for name, part in measured.items() for loss in part.losses}
        if overall and len(measured) > 1:
            for loss in sorted({loss for loss, _ in found}):
                found[loss, ALL_DATASETS] = mean_over_datasets([part.of(loss) for part in measured.values()])
        rows += [
            {"loss": loss, "dataset": dataset, "metric": metric, **_row(estimate, level)}
            for (loss, dataset), estimate in found.items()
        ]
    return as_nullable(pd.DataFrame(rows, columns=["loss", "dataset", "metric", *_row(Estimate(None), level)]))


def _row(estimate: Estimate, level: float) -> dict[str, Any]:
    note = "no run has a value" if estimate.mean is None else "one seed: no interval"
    return {
        "mean": estimate.mean,
        **interval(estimate, level),
        "sd_seeds": estimate.sd_seeds,
        **sizes(estimate),
        "note": note if estimate.variance is None else "",
    }


def interval(estimate: Estimate, level: float) -> dict[str, Any]:
    """The columns that give an interval and say what it carries."""
    if estimate.mean is None or estimate.variance is None:
        return {"low": None, "high": None, "half_width": None, "carries": ""}
    half = float(estimate.variance.half_width(level))
    return {
        "low": estimate.mean - half,
        "high": estimate.mean + half,
        "half_width": half,
        "carries": _OF_UNITS.get(estimate.units, MIXED) if estimate.n_identities else SEEDS,
    }


def interval_in_words(carries: str, level: float = LEVEL) -> str:
    """What an interval of probability `level` is, given the value of the column `carries`; empty where there is no
    interval.

    >>> interval_in_words(SEEDS)
    '95% t interval, carries seeds'
    """
    return f"{level:.0%} t interval, carries {CARRIED[carries]}" if carries else ""


def sizes(estimate: Estimate) -> dict[str, Any]:
    """The columns that say what an estimate rests on."""
    return {"n_seeds": estimate.n_seeds, "n_identities": estimate.n_identities, "left_out": estimate.left_out}


def as_nullable(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers that may be absent are <NA>, never NaN."""
    numbers = ["mean", "difference", "low", "high", "half_width", "sd_seeds", "p", "p_holm"]
    kinds = {name: "Float64" for name in numbers if name in table.columns}
    kinds |= {name: "boolean" for name in ("significant", "tied_with_best") if name in table.columns}
    return table.astype(kinds)
