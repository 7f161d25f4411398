"""What the plots draw from: an experiment's runs, and what several plots ask of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.findings import Findings
from benchmark.metrics import MetricColumn, column, main_columns
from benchmark.plots._style import Look, in_order, looks
from benchmark.results import ExperimentResults
from benchmark.statistics import ALL_DATASETS, CARRIED
from benchmark.store import Run
from benchmark.text import listed

Arrays = dict[str, NDArray[np.generic]]
Floats = NDArray[np.float64]
DIFFERENCES = {"%": "percentage points", "°": "degrees", "": ""}


@dataclass(frozen=True)
class Context:
    """An experiment's results, and the metric by which its losses are compared."""

    collected: ExperimentResults
    metric: str = field(default_factory=lambda: main_columns()["open"].key)

    @property
    def baseline(self) -> str:
        return self.collected.experiment.baseline

    @property
    def column(self) -> MetricColumn:
        """How the metric is shown."""
        return column(self.metric)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each run; the column of the metric exists even where no run has it."""
        table = self.collected.table
        values = table[self.metric] if self.metric in table else pd.Series(np.nan, table.index)
        return table.assign(**{self.metric: pd.to_numeric(values, errors="coerce").astype(float)})

    @cached_property
    def losses(self) -> list[str]:
        """The labels of all losses that have a run, in the experiment's order."""
        present = set(self.table["loss"])
        return [row.label for row in self.collected.experiment.losses if row.label in present]

    @cached_property
    def datasets(self) -> list[str]:
        return sorted(set(self.table["dataset"]), key=in_order)

    @cached_property
    def looks(self) -> dict[str, Look]:
        rows = self.collected.experiment.losses
        return looks([row.label for row in rows], self.baseline, {row.label: row.name for row in rows})

    @cached_property
    def findings(self) -> Findings:
        """What the statistics say: the same object that the report's tables and sentences read."""
        return Findings.of_experiment(self.collected)

    @cached_property
    def standing(self) -> pd.DataFrame:
        """Mean of every loss on every dataset and over all, with the best and what is tied with it."""
        known = self.table[self.metric].notna().any()
        found = self.findings.of(self.metric, self.column.lower_is_better) if known else {}
        rows = [(one.loss, one.dataset, one.mean, one.best, one.tied) for one in found.values()]
        standing = pd.DataFrame(rows, columns=["loss", "dataset", "mean", "best", "tied_with_best"])
        return standing.astype({"mean": "Float64", "tied_with_best": "boolean"}).sort_values(
            "dataset", key=lambda names: names.map(in_order), kind="stable", ignore_index=True
        )

    def best(self, dataset: str) -> str | None:
        """The loss with the best mean; None if no run has a value."""
        standing = self.standing
        found = standing[(standing["dataset"] == dataset) & standing["best"]]
        return str(found["loss"].iloc[0]) if len(found) else None

    def runs(self, dataset: str, loss: str) -> list[tuple[int, Run]]:
        """The runs that did not diverge, by seed."""
        rows = self.table[(self.table["dataset"] == dataset) & (self.table["loss"] == loss)]
        rows = rows[rows["status"] == "ok"].sort_values("seed")
        found = zip(rows["seed"], rows["id"], strict=True)
        return [(int(seed), self._by_row[run_id, loss]) for seed, run_id in found]

    def first_runs(self, dataset: str) -> Iterator[tuple[str, int, Run]]:
        """The run of each loss with the lowest seed: no run is chosen by its looks."""
        for loss in self.losses:
            for seed, run in self.runs(dataset, loss)[:1]:
                yield loss, seed, run

    def first_seeds(self, dataset: str) -> str:
        """Which runs `first_runs` gives, in words."""
        seeds = {loss: seed for loss, seed, _ in self.first_runs(dataset)}
        usual = min(seeds.values())
        others = [f"{loss} seed {seed}" for loss, seed in seeds.items() if seed != usual]
        return f"seed {usual}" + (f" (of {listed(others)}, since lower ones diverged or are missing)" if others else "")

    def without_a_run(self, dataset: str) -> str:
        """A sentence about the losses that cannot be drawn on a dataset; empty if there are none."""
        rows = self.table[self.table["dataset"] == dataset]
        sound = set(rows.loc[rows["status"] == "ok", "loss"])
        diverged = [loss for loss in self.losses if loss in set(rows["loss"]) - sound]
        absent = [row.label for row in self.collected.experiment.losses if row.label not in set(rows["loss"])]
        parts = [f"every run of {loss} diverged" for loss in diverged]
        parts += [f"{loss} has no run" for loss in absent]
        return f" Not drawn: {'; '.join(parts)}." if parts else ""

    @cached_property
    def _by_row(self) -> dict[tuple[str, str], Run]:
        return {(run.id, run.cell["labels"]["loss"]): run for run in self.collected.runs}


def name_of(column: MetricColumn) -> str:
    """The heading within a sentence: "verification accuracy", but "EER"."""
    heading = column.heading
    return heading[:1].lower() + heading[1:] if heading[1:2].islower() else heading


def in_units(column: MetricColumn, before: str = ", ") -> str:
    """What differences of a metric are counted in, after the words that stand before it; empty without a unit."""
    return f"{before}{DIFFERENCES[column.unit]}" if column.unit else ""


def intervals_in_words(carries: Iterable[str], lines: str = "Vertical lines") -> str:
    """A sentence about the intervals of a picture, from the column `carries` of a frame."""
    found = {kind for kind in carries if kind}
    if not found:
        return "There are no intervals: they need two seeds."
    over = "the seeds and, where there are any, the test identities" if len(found) > 1 else f"the {CARRIED[min(found)]}"
    return f"{lines} are 95 % intervals over {over}."


def by_dataset(words: Mapping[str, str]) -> str:
    """`On digits and glyphs, …. Over all datasets, ….`: what is said of each dataset, equal words once."""
    found: dict[str, list[str]] = {}
    for dataset in sorted(words, key=in_order):
        found.setdefault(words[dataset], []).append(dataset)
    places = [listed([name for name in names if name != ALL_DATASETS], 6) for names in found.values()]
    overall = [ALL_DATASETS in names for names in found.values()]
    starts = [
        " and ".join(filter(None, [place and f"on {place}", "over all datasets" if is_overall else ""]))
        for place, is_overall in zip(places, overall, strict=True)
    ]
    return " ".join(f"{start[0].upper()}{start[1:]}, {said}." for start, said in zip(starts, found, strict=True))
