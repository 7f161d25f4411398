"""A paper's table: what was published, from where, and how it is measured at each scale.

Classes of `Keys` are mappings of a paper file as they stand there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

import datasets
from benchmark.metrics import column
from benchmark.results import result_label
from benchmark.spec import DatasetRow, Experiment
from benchmark.spec.overrides import touches
from benchmark.spec.values import Keys, Label, one_of

PERCENT, DEGREES = "%", "°"
LOSSES, COLUMNS = "losses", "columns"
Text = Annotated[str, Field(max_length=2000)]
Reason = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(str.strip)]
Labels = Annotated[tuple[Label, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)]
Link = Annotated[str, Field(max_length=300, pattern=r"^(https://[^\s\"'<>]+|doi:[^\s\"'<>]+|arXiv:[^\s\"'<>]+)?$")]


class Source(Keys):
    """Where a value was read."""

    paper: Text
    table: Text = ""
    link: Link
    second_hand: bool = False  # read as quoted by someone else
    setting: Text = ""  # what is particular to it, in words

    @property
    def in_words(self) -> str:
        where = ", ".join(part for part in (self.paper, self.table) if part)
        words = f"{where} ({self.link})" if self.link else where
        words += f"; {self.setting}" if self.setting else ""
        return f"{words}; 2nd-hand" if self.second_hand else words


class Comparable(Keys):
    """Sources whose values may be subtracted from each other, and why."""

    sources: Labels  # their keys
    because: Reason


@dataclass(frozen=True)
class Published:
    """One published value, of one run or several."""

    runs: tuple[float, ...]
    key: str  # of the source
    source: Source

    @property
    def value(self) -> float:
        return fmean(self.runs)


class PublishedColumn(Keys):
    """A column of the published table."""

    name: Label
    unit: Annotated[str, one_of("unit", (PERCENT, DEGREES))] = PERCENT
    data: Label  # what it was trained and tested on
    meaning: Text = ""
    other_loss: Label | None = None  # the loss that it is of, where that is not the row's: such a column is context


@dataclass(frozen=True)
class PaperRow:
    """A loss of the table. At a scale that trains it, a loss of the scale's experiment has the same label."""

    label: str
    hyper: Mapping[str, float | int | str]  # as published
    published: Mapping[str, Published]  # by the column's name
    unmeasured: str  # why no scale trains it; empty: one does


@dataclass(frozen=True)
class PaperEffect:
    """A difference that the paper speaks of: the first row's value minus the second's."""

    row: str
    than: str


class MeasuredColumn(Keys):
    """A metric that runs of a scale give."""

    name: Label
    dataset: str  # as tables name it: a label of the scale's experiment, `casia: lfw` where it has several test sets
    metric: str
    beside: Labels = ()  # the published columns that it is compared with

    @property
    def unit(self) -> str:
        return column(self.metric).unit

    @property
    def factor(self) -> float:
        """From the metric to what is shown."""
        return column(self.metric).factor


class OwnData(Keys):
    """Files that people have to get themselves: what they are, and how to get them."""

    data: Label
    tests: dict[str, Label] = Field(default_factory=dict)  # what each test set is, by its name, where there are several
    get: Text

    def tested_on(self, test_set: str) -> str:
        """In the words in which published columns name their data."""
        return f"{self.data}, tested on {self.tests[test_set]}" if test_set in self.tests else self.data


class Unmeasured(Keys):
    """Published columns that have no counterpart at a scale, and why."""

    columns: Annotated[Labels, Field(min_length=1)]
    because: Reason


@dataclass(frozen=True)
class Scale:
    """One way to measure the table."""

    name: str
    note: str
    differences: tuple[str, ...]  # ways in which it differs that no comparison of settings finds
    alike: frozenset[str]  # keys of the setting that are kept, although in other words
    own_data: Mapping[str, OwnData]  # by the dataset's label
    measured: tuple[MeasuredColumn, ...]
    unmeasured: tuple[Unmeasured, ...]
    experiment: Experiment

    def data_of(self, name: str) -> str:
        """What a dataset, as tables name it, is in the words in which columns name their data."""
        row, test_set = next(
            (row, one) for row in self.experiment.datasets for one, shown in shown_as(row) if shown == name
        )
        own = self.own_data.get(row.label)
        return own.tested_on(test_set) if own else data_name(row)

    @property
    def overrides(self) -> tuple[str, ...]:
        return self.experiment.overrides

    def on_same_data(self, column: PublishedColumn, measured: MeasuredColumn) -> bool:
        """Only then may one be subtracted from the other."""
        same_kind = column.unit == measured.unit and not column.other_loss
        if touches(self.overrides, "datasets"):
            return False  # what the file says of the data may not hold any more
        return column.name in measured.beside and same_kind and self.data_of(measured.dataset) == column.data


@dataclass(frozen=True)
class Paper:
    name: str
    path: Path
    title: str
    claim: str
    layout: str  # LOSSES: a line per loss; COLUMNS: a line per column
    sources: tuple[Source, ...]  # the first is the main one
    comparable: tuple[Comparable, ...]  # no source is in two of them
    setting: Mapping[str, object]
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PaperRow, ...]
    effects: tuple[PaperEffect, ...]
    scales: Mapping[str, Scale]
    published_only: Mapping[str, str]  # scales at which nothing is measured, and why

    def column(self, name: str) -> PublishedColumn:
        return next(column for column in self.columns if column.name == name)

    def row(self, label: str) -> PaperRow:
        return next(row for row in self.rows if row.label == label)

    def comparable_with(self, source: str) -> tuple[tuple[str, ...], str]:
        """The sources whose values may be subtracted from this one's, and why; itself alone, unless the file says."""
        found = ((group.sources, group.because) for group in self.comparable if source in group.sources)
        return next(found, ((source,), ""))


def shown_as(row: DatasetRow) -> list[tuple[str, str]]:
    """Each test set of a dataset, with how tables name it."""
    return [(name, result_label(row.label, name)) for name in datasets.test_sets(row.dataset)]


def data_name(row: DatasetRow) -> str:
    """`mnist`, `omniglot protocol=closed`, `glyphs + longtail`: enough to tell whether two sets are the same."""
    options = row.dataset["options"]
    telling = [f"{key}={options[key]}" for key in ("part", "protocol") if key in options]
    wrappers = [f"+ {name}" for wrapper in row.dataset["wrappers"] for name in wrapper]
    return " ".join([row.name, *telling, *wrappers])
