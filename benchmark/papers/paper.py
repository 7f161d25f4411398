"""A paper's table: what was published, from where, and how it is measured at each scale."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmark.metrics import column
from benchmark.spec import DatasetRow, Experiment

PERCENT, DEGREES = "%", "°"
LOSSES, COLUMNS = "losses", "columns"


@dataclass(frozen=True)
class Source:
    """Where a value was read."""

    key: str
    paper: str
    table: str
    link: str
    second_hand: bool  # read as quoted by someone else
    setting: str  # what is particular to it, in words

    @property
    def in_words(self) -> str:
        where = ", ".join(part for part in (self.paper, self.table) if part)
        words = f"{where} ({self.link})" if self.link else where
        words += f"; {self.setting}" if self.setting else ""
        return f"{words}; 2nd-hand" if self.second_hand else words


@dataclass(frozen=True)
class Comparable:
    """Sources whose values may be subtracted from each other, and why."""

    sources: frozenset[str]  # their keys
    because: str


@dataclass(frozen=True)
class Published:
    """One published value, of one run or several."""

    runs: tuple[float, ...]
    source: Source

    @property
    def value(self) -> float:
        return fmean(self.runs)


@dataclass(frozen=True)
class PublishedColumn:
    """A column of the published table."""

    name: str
    unit: str
    data: str  # what it was trained and tested on
    meaning: str
    other_loss: str  # the loss that it is of, where that is not the row's: such a column is context


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


@dataclass(frozen=True)
class MeasuredColumn:
    """A metric that runs of a scale give."""

    name: str
    dataset: str  # a label of the scale's experiment
    metric: str
    beside: tuple[str, ...]  # the published columns that it is compared with

    @property
    def unit(self) -> str:
        return column(self.metric).unit

    @property
    def factor(self) -> float:
        """From the metric to what is shown."""
        return column(self.metric).factor


@dataclass(frozen=True)
class OwnData:
    """A folder that people have to fill themselves: what it then is, and how to get it."""

    data: str
    get: str


@dataclass(frozen=True)
class Unmeasured:
    """Published columns that have no counterpart at a scale, and why."""

    columns: tuple[str, ...]
    because: str


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

    def data_of(self, label: str) -> str:
        """What a dataset of the experiment is, in the words in which columns name their data."""
        own = self.own_data.get(label)
        return own.data if own else data_name(next(row for row in self.experiment.datasets if row.label == label))

    def on_same_data(self, column: PublishedColumn, measured: MeasuredColumn) -> bool:
        """Only then may one be subtracted from the other."""
        same_kind = column.unit == measured.unit and not column.other_loss
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

    def column(self, name: str) -> PublishedColumn:
        return next(column for column in self.columns if column.name == name)

    def row(self, label: str) -> PaperRow:
        return next(row for row in self.rows if row.label == label)

    def comparable_with(self, source: Source) -> Comparable:
        """The sources whose values may be subtracted from this one's; itself alone, unless the file names others."""
        alone = Comparable(frozenset({source.key}), "")
        return next((group for group in self.comparable if source.key in group.sources), alone)


def data_name(row: DatasetRow) -> str:
    """`mnist`, `omniglot protocol=closed`, `glyphs + longtail`: enough to tell whether two sets are the same."""
    options = row.dataset["options"]
    telling = [f"{key}={options[key]}" for key in ("part", "protocol") if key in options]
    wrappers = [f"+ {name}" for wrapper in row.dataset["wrappers"] for name in wrapper]
    return " ".join([row.name, *telling, *wrappers])
