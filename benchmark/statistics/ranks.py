"""Average ranks over datasets, and whether there are enough datasets to separate losses by rank."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from benchmark.statistics.measurements import Measurements, arrange, check_results
from benchmark.text import in_natural_order


@dataclass(frozen=True)
class Ranks:
    """The rank of every loss on every dataset, 1 the best, ties sharing their mean rank."""

    table: pd.DataFrame  # datasets × losses
    left_out: dict[str, str]  # datasets not ranked, and why

    @property
    def average(self) -> pd.Series:
        """Average rank of each loss, the best first."""
        return self.table.mean(axis=0).sort_values(kind="stable")


@dataclass(frozen=True)
class CriticalDifference:
    """Nemenyi's test: average ranks that differ by less than `difference` are not significantly different."""

    difference: float | None
    largest_gap: float  # of two average ranks: number of losses − 1
    can_separate: bool  # whether any outcome at all could exceed the critical difference
    datasets: int
    datasets_needed: int  # the fewest with which it could
    groups: list[list[str]]  # losses without a significant difference, best first; empty if the test cannot separate
    friedman_p: float | None  # of the hypothesis that all losses are equally good
    note: str


def average_ranks(results: pd.DataFrame, metric: str, lower_is_better: bool = False) -> Ranks:
    """Ranks of the means over seeds by a `metric`; a loss that diverged in all its runs on a dataset ranks last
    there.

    `results` and errors are those of `compare`. With `lower_is_better`, the lowest value has rank 1. A dataset on which
    some loss was never run is left out.

    >>> runs = [(loss, data, 0, value) for data in ("x", "y") for loss, value in (("a", 0.9), ("b", 0.8))]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> average_ranks(results, "accuracy").average.to_dict()
    {'a': 1.0, 'b': 2.0}
    """
    check_results(results, [metric])
    losses = sorted(results["loss"].unique())
    ranks, left_out = {}, {}
    for dataset in in_natural_order(results["dataset"].unique()):
        measured = arrange(results, dataset, metric)
        absent = sorted(set(losses) - set(measured.losses))
        if absent:
            left_out[dataset] = f"not run: {', '.join(absent)}"
        else:
            ranks[dataset] = _ranks_of(measured, lower_is_better)
    return Ranks(pd.DataFrame.from_dict(ranks, orient="index", columns=losses, dtype=np.float64), left_out)


def critical_difference(ranks: Ranks, level: float = 0.95) -> CriticalDifference:
    """Nemenyi's critical difference of `ranks` at `level`, and the groups that it leaves together, if it can
    separate anything.

    >>> runs = [(loss, data, 0, value) for data in ("x", "y") for loss, value in (("a", 0.9), ("b", 0.8))]
    >>> results = pd.DataFrame(runs, columns=["loss", "dataset", "seed", "accuracy"])
    >>> critical_difference(average_ranks(results, "accuracy")).note
    '2 datasets are too few to separate 2 losses by rank; 4 are needed'
    """
    datasets, losses = ranks.table.shape
    if losses < 2:
        return CriticalDifference(None, 0.0, False, datasets, 0, [], None, "one loss: nothing to compare")
    # The fewest datasets whose critical difference is smaller than the largest possible gap.
    needed = math.floor((_nemenyi(losses, 1, level) / (losses - 1)) ** 2) + 1
    p = _friedman_p(ranks.table)
    difference = _nemenyi(losses, datasets, level) if datasets else None
    if difference is None or datasets < needed:
        note = f"{datasets} datasets are too few to separate {losses} losses by rank; {needed} are needed"
        return CriticalDifference(difference, losses - 1.0, False, datasets, needed, [], p, note)
    groups = _groups(ranks.average, difference)
    return CriticalDifference(difference, losses - 1.0, True, datasets, needed, groups, p, "")


def _ranks_of(measured: Measurements, lower_is_better: bool) -> list[float]:
    sign = 1.0 if lower_is_better else -1.0
    estimates = [measured.of(loss) for loss in measured.losses]
    costs = [math.inf if estimate.mean is None else round(sign * estimate.mean, 12) for estimate in estimates]
    return [float(rank) for rank in stats.rankdata(costs)]


def _nemenyi(losses: int, datasets: int, level: float) -> float:
    quantile = stats.studentized_range.ppf(level, losses, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(losses * (losses + 1) / (6 * datasets)))


def _friedman_p(table: pd.DataFrame) -> float | None:
    """None with fewer than three losses or two datasets, or if every rank is tied."""
    datasets, losses = table.shape
    if losses < 3 or datasets < 2 or bool((table.max(axis=1) == table.min(axis=1)).all()):
        return None
    return float(stats.friedmanchisquare(*(table[loss] for loss in table.columns)).pvalue)


def _groups(average: pd.Series, difference: float) -> list[list[str]]:
    """The longest runs of losses, by rank, whose ends differ by no more than the critical difference."""
    ranks = average.to_numpy()
    ends = [int(np.searchsorted(ranks, rank + difference, "right")) for rank in ranks]
    longest = [start for start in range(len(ranks)) if start == 0 or ends[start] > ends[start - 1]]
    return [[str(loss) for loss in average.index[start : ends[start]]] for start in longest]
