"""A claim: its words, their source, and parts that can be tested."""

from dataclasses import dataclass

from benchmark.metrics import column

DIRECTIONS = ("higher", "lower", "not_lower", "not_higher")


@dataclass(frozen=True)
class TunedLoss:
    """The setting of a loss that is best on validation data, among the experiment's rows of it."""

    name: str
    by: str  # a metric of the validation split


@dataclass(frozen=True)
class ClaimPart:
    """One comparison: `loss` against another row, a tuned loss or a value, on each of some datasets."""

    letter: str
    words: str
    metric: str
    datasets: tuple[str, ...]
    loss: str
    against: str | float | TunedLoss
    expect: str  # one of DIRECTIONS
    margin: float  # in the metric's unit
    over: str | None = None  # what is compared is then the gain over this row on the same dataset
    against_dataset: str | None = None  # where the other one stands, if not on the same dataset

    @property
    def no_worse(self) -> bool:
        return self.expect.startswith("not_")

    @property
    def sign(self) -> float:
        """1 where the claimed side is the positive one."""
        return 1.0 if self.expect in ("higher", "not_lower") else -1.0

    @property
    def unit(self) -> str:
        """Of differences: points of per cent, degrees, or none."""
        unit = column(self.metric).unit
        return "points" if unit == "%" else unit

    @property
    def scale(self) -> float:
        """From the metric as it is measured to the unit in which it is shown."""
        return column(self.metric).factor


@dataclass(frozen=True)
class Claim:
    number: int
    paper: str
    short: str  # the words in short, for a column of claims
    words: str
    source: str
    note: str  # how the words were read, where they can be read in several ways
    experiment: str
    parts: tuple[ClaimPart, ...]
