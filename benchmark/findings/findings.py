"""What the statistics say about the runs of an experiment; the source of all sentences and tables on the pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from benchmark.findings.comparisons import Comparisons
from benchmark.metrics import MetricColumn, main_column, main_columns
from benchmark.results import ExperimentResults
from benchmark.statistics import ALL_DATASETS, Jackknife, Ranks, average_ranks, summarise
from benchmark.text import in_natural_order

PRIMARY = "primary"
"""The column that holds, for each run, its dataset's main metric."""
SAME = 1e-12  # means that differ by less are equal


@dataclass(frozen=True)
class Finding:
    """One loss on one dataset by one metric. Unknown values are None."""

    loss: str
    dataset: str
    runs: int
    diverged: int
    mean: float | None = None
    half_width: float | None = None  # of the 95 % interval
    carries: str = ""  # SEEDS or SEEDS_AND_IDENTITIES; empty without an interval
    seeds: int = 0  # of the mean
    best: bool = False
    tied: bool | None = None  # no other loss is significantly better; None: not tested, and why says why
    worse_than: str = ""  # a loss that is significantly better: the best one if possible
    why: str = ""


@dataclass(frozen=True)
class Findings:
    """Computed from results with the columns loss, dataset, seed, status and one per metric."""

    results: pd.DataFrame
    baseline: str
    jackknife: Jackknife = field(default_factory=dict)
    baselines: Mapping[str, str] = field(default_factory=dict)  # for losses with another baseline

    @classmethod
    def of_experiment(cls, collected: ExperimentResults) -> "Findings":
        experiment = collected.experiment
        return cls(collected.table, experiment.baseline, collected.jackknife, experiment.baselines)

    @cached_property
    def main_columns(self) -> dict[str, MetricColumn]:
        """The main metric of every dataset on which some run has a value of it."""
        found = {name: main_column(self.results[self.results["dataset"] == name]) for name in self.datasets}
        return {name: column for name, column in found.items() if column is not None}

    @cached_property
    def datasets(self) -> list[str]:
        """Every dataset with a run, measured or not, in natural order."""
        return in_natural_order(map(str, self.results["dataset"].unique()))

    @cached_property
    def losses(self) -> list[str]:
        return sorted(self.results["loss"].unique())

    @cached_property
    def common(self) -> MetricColumn | None:
        """The metric for all datasets together: the main one if they share it, else verification accuracy."""
        different = {column.key: column for column in self.main_columns.values()}
        if len(different) <= 1:
            return next(iter(different.values()), None)
        verification = main_columns()["open"]
        with_it = self.results.groupby("dataset")[verification.key].count() > 0
        return verification if all(with_it[name] for name in self.main_columns) else None

    def of(self, key: str, lower_is_better: bool = False) -> Mapping[tuple[str, str], Finding]:
        """(loss, dataset) → finding, for every dataset that has the metric and, if there are several, for all of them.
        `key` is the key of a metric, or PRIMARY."""
        if key not in self._known:
            self._known[key] = self._of_metric(key, lower_is_better)
        return self._known[key]

    def ranks(self, key: str, lower_is_better: bool = False) -> Ranks:
        """The ranks of every loss on the datasets that have the metric."""
        return average_ranks(self._with(key), key, lower_is_better)

    @cached_property
    def places(self) -> pd.Series:
        """Average rank by the main metric, best first; empty if no dataset was run with every loss."""
        return self.ranks(PRIMARY).average.dropna()

    def comparisons(self, key: str, lower_is_better: bool = False) -> Comparisons:
        """Every pair of losses by a metric, or by PRIMARY, on the datasets that have it."""
        if key not in self._compared:
            self._compared[key] = Comparisons.of(self._with(key), key, lower_is_better, self._all_jackknife)
        return self._compared[key]

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Each loss minus its baseline by the main metric of every dataset, and by the common one over all."""
        return self.differences_from(self.baseline, self.baselines)

    def differences_from(self, baseline: str, baselines: Mapping[str, str] | None = None) -> pd.DataFrame:
        """The same for any baseline; `baselines` gives some losses another one."""
        of = {loss: (baselines or {}).get(loss, baseline) for loss in self.losses if loss != baseline}
        by_dataset = self.comparisons(PRIMARY).against(of)
        by_dataset = by_dataset[by_dataset["dataset"] != ALL_DATASETS]
        found = [by_dataset.assign(metric=[self.main_columns[name].key for name in by_dataset["dataset"]])]
        if self.common is not None and len(self.main_columns) > 1:
            overall = self.comparisons(self.common.key).against(of)
            found.append(overall[overall["dataset"] == ALL_DATASETS].assign(metric=self.common.key))
        return pd.concat(found, ignore_index=True)

    @cached_property
    def _compared(self) -> dict[str, Comparisons]:
        return {}

    @cached_property
    def _known(self) -> dict[str, Mapping[tuple[str, str], Finding]]:
        return {}

    def _with(self, key: str) -> pd.DataFrame:
        """The rows of datasets that have the metric, including diverged runs."""
        rows = self._with_primary
        return rows[rows.groupby("dataset")[key].transform("count") > 0]

    @cached_property
    def _with_primary(self) -> pd.DataFrame:
        rows = self.results.copy()
        rows[PRIMARY] = float("nan")
        for name, column in self.main_columns.items():
            here = rows["dataset"] == name
            rows.loc[here, PRIMARY] = pd.to_numeric(rows.loc[here, column.key]).astype(float)
        return rows

    @cached_property
    def _all_jackknife(self) -> Jackknife:
        """The jackknife values, also under the key PRIMARY."""
        found = {}
        for (loss, dataset, seed), values in self.jackknife.items():
            column = self.main_columns.get(dataset)
            first = {PRIMARY: values[column.key]} if column is not None and column.key in values else {}
            found[loss, dataset, seed] = {**values, **first}
        return found

    def _of_metric(self, key: str, lower_is_better: bool) -> dict[tuple[str, str], Finding]:
        rows = self._with(key)
        if rows.empty:
            return {}
        means = summarise(rows, [key], self._all_jackknife, overall=True)
        tests = self.comparisons(key, lower_is_better).standing.to_dict("records")
        ties = {(str(row["loss"]), str(row["dataset"])): row for row in tests}
        best = {str(row["dataset"]): row["mean"] for row in tests if row["best"]}
        counts = _counts(rows)
        found = {}
        for row in means.to_dict("records"):
            at = (str(row["loss"]), str(row["dataset"]))
            found[at] = _finding(row, ties[at], best.get(at[1]), *counts[at])
        return found


def _counts(rows: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """(runs, diverged runs) of each loss on each dataset, and on all."""
    both = pd.concat([rows, rows.assign(dataset=ALL_DATASETS)])
    parts = both.groupby(["loss", "dataset"])["status"]
    return {(str(loss), str(dataset)): (len(part), int((part == "diverged").sum())) for (loss, dataset), part in parts}


def _finding(summary: Mapping[Any, Any], tie: Mapping[Any, Any], best: Any, runs: int, diverged: int) -> Finding:
    mean = _number(summary["mean"])
    worse_than = str(tie["worse_than"])
    is_best = mean is not None and not worse_than and not pd.isna(best) and abs(mean - float(best)) <= SAME
    return Finding(
        loss=str(summary["loss"]),
        dataset=str(summary["dataset"]),
        runs=runs,
        diverged=diverged,
        mean=mean,
        half_width=_number(summary["half_width"]),
        carries=str(summary["carries"]),
        seeds=int(summary["n_seeds"]),
        best=is_best,
        tied=True if is_best else None if pd.isna(tie["tied_with_best"]) else bool(tie["tied_with_best"]),
        worse_than=worse_than,
        why="" if is_best else str(tie["note"]),
    )


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)
