"""What the statistics say of an experiment's runs. Every sentence and table of report and leaderboard reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from benchmark.metrics import MetricColumn, main_column, main_columns
from benchmark.results import ExperimentResults
from benchmark.statistics import ALL_DATASETS, Jackknife, Ranks, average_ranks, compare, summarise, tied_with_best

PRIMARY = "primary"
"""The column that holds, for each run, its dataset's main metric."""
SAME = 1e-12  # means that differ by less are equal


@dataclass(frozen=True)
class Finding:
    """One loss on one dataset by one metric. What cannot be given is None."""

    loss: str
    dataset: str
    runs: int
    diverged: int
    mean: float | None = None
    half_width: float | None = None  # of the 95 % interval
    carries: str = ""  # SEEDS or SEEDS_AND_IDENTITIES; empty without an interval
    seeds: int = 0  # that the mean is over
    best: bool = False
    tied: bool | None = None  # None: not tested, and why says why
    why: str = ""


@dataclass(frozen=True)
class Findings:
    """Results with the columns loss, dataset, seed, status and one per metric, and what follows from them."""

    results: pd.DataFrame
    baseline: str
    jackknife: Jackknife = field(default_factory=dict)
    baselines: Mapping[str, str] = field(default_factory=dict)  # of losses that have one of their own

    @classmethod
    def of_experiment(cls, collected: ExperimentResults) -> "Findings":
        experiment = collected.experiment
        return cls(collected.table, experiment.baseline, collected.jackknife, experiment.baselines)

    @cached_property
    def main_columns(self) -> dict[str, MetricColumn]:
        """The main metric of every dataset on which some run has it."""
        found = {str(name): main_column(rows) for name, rows in self.results.groupby("dataset", sort=True)}
        return {name: column for name, column in found.items() if column is not None}

    @cached_property
    def datasets(self) -> list[str]:
        """Every dataset with a run, measured or not."""
        return sorted(self.results["dataset"].unique())

    @cached_property
    def losses(self) -> list[str]:
        return sorted(self.results["loss"].unique())

    @cached_property
    def common(self) -> MetricColumn | None:
        """The metric that means the same on every dataset: the main one if they share it, else verification's."""
        different = {column.key: column for column in self.main_columns.values()}
        if len(different) <= 1:
            return next(iter(different.values()), None)
        verification = main_columns()["open"]
        with_it = self.results.groupby("dataset")[verification.key].count() > 0
        return verification if all(with_it[name] for name in self.main_columns) else None

    def of(self, key: str, lower_is_better: bool = False) -> Mapping[tuple[str, str], Finding]:
        """(loss, dataset) → finding, for every dataset that has the metric, and for all of them where there are
        several. `key` is a metric's, or PRIMARY."""
        if key not in self._known:
            self._known[key] = self._of_metric(key, lower_is_better)
        return self._known[key]

    def ranks(self, key: str, lower_is_better: bool = False) -> Ranks:
        """Of every loss on the datasets that have the metric."""
        return average_ranks(self._with(key), key, lower_is_better)

    @cached_property
    def places(self) -> pd.Series:
        """Average rank by the main metric, best first; empty if no dataset has been run with every loss."""
        return self.ranks(PRIMARY).average.dropna()

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Each loss against the baseline by the main metric of every dataset, and by the common one over all."""
        rows = self._with(PRIMARY)
        by_dataset = compare(rows, self.baseline, [PRIMARY], self._all_jackknife, against=self.baselines)
        by_dataset = by_dataset[by_dataset["dataset"] != ALL_DATASETS]
        by_dataset = by_dataset.assign(metric=[self.main_columns[name].key for name in by_dataset["dataset"]])
        if self.common is None or len(self.main_columns) < 2:
            return by_dataset
        overall = compare(rows, self.baseline, [self.common.key], self._all_jackknife, against=self.baselines)
        return pd.concat([by_dataset, overall[overall["dataset"] == ALL_DATASETS]], ignore_index=True)

    @cached_property
    def _known(self) -> dict[str, Mapping[tuple[str, str], Finding]]:
        return {}

    def _with(self, key: str) -> pd.DataFrame:
        """The rows of datasets that have the metric, diverged runs among them."""
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
        """With PRIMARY beside the metric that it is."""
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
        tests = tied_with_best(rows, key, lower_is_better, self._all_jackknife).to_dict("records")
        ties = {(str(row["loss"]), str(row["dataset"])): row for row in tests}
        best = {str(row["dataset"]): row["mean"] for row in tests if row["best"]}
        counts = _counts(rows)
        found = {}
        for row in means.to_dict("records"):
            at = (str(row["loss"]), str(row["dataset"]))
            found[at] = _finding(row, ties[at], best.get(at[1]), *counts[at])
        return found


def _counts(rows: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """Runs and diverged runs of each loss on each dataset, and on all."""
    both = pd.concat([rows, rows.assign(dataset=ALL_DATASETS)])
    parts = both.groupby(["loss", "dataset"])["status"]
    return {(str(loss), str(dataset)): (len(part), int((part == "diverged").sum())) for (loss, dataset), part in parts}


def _finding(summary: Mapping[Any, Any], tie: Mapping[Any, Any], best: Any, runs: int, diverged: int) -> Finding:
    mean = _number(summary["mean"])
    is_best = mean is not None and not pd.isna(best) and abs(mean - float(best)) <= SAME
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
        why="" if is_best else str(tie["note"]),
    )


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)
