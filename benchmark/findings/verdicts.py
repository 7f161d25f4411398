"""Who is best on a dataset, who is tied with it, and what could not be said."""

from dataclasses import dataclass, field

from benchmark.findings.findings import PRIMARY, Finding, Findings
from benchmark.metrics import MetricColumn
from benchmark.statistics import ALL_DATASETS


@dataclass(frozen=True)
class DatasetVerdict:
    """The losses of one dataset, sorted by what the test says of them; each list has the best means first."""

    dataset: str
    column: MetricColumn | None  # None: no run has a value
    seeds: int  # that the best mean is over
    most_seeds: int  # that any mean is over
    best: list[str] = field(default_factory=list)  # more than one where means are equal
    mean: float | None = None  # of the best
    tied: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    untested: dict[str, list[str]] = field(default_factory=dict)  # by the reason
    diverged: dict[str, tuple[int, int]] = field(default_factory=dict)  # runs that diverged, of how many
    without_value: list[str] = field(default_factory=list)  # run, but every run diverged

    @property
    def ranked(self) -> list[str]:
        """Losses with a mean."""
        return [*self.best, *self.tied, *self.worse, *(loss for part in self.untested.values() for loss in part)]

    def speaks_of(self, loss: str) -> bool:
        """Whether the test, or divergence in every run, says something of the loss."""
        return loss in [*self.best, *self.tied, *self.worse, *self.without_value]

    @property
    def is_tested(self) -> bool:
        """Whether there is a test for some of the losses that are not best, or none is left to test."""
        return len(self.ranked) > 1 and (bool(self.tied or self.worse) or not self.untested)

    @property
    def is_clear(self) -> bool:
        """Whether one loss is best and every other one significantly worse."""
        return len(self.best) == 1 and bool(self.worse) and not self.tied and not self.untested

    @property
    def is_open(self) -> bool:
        """Whether no loss at all is significantly worse than the best."""
        return len(self.ranked) > 1 and not self.worse and not self.untested


def verdicts(findings: Findings) -> list[DatasetVerdict]:
    """One for each dataset that has runs."""
    return [_verdict(name, findings) for name in findings.datasets]


def overall(findings: Findings) -> DatasetVerdict | None:
    """By the mean of the common metric over all datasets; None with one dataset or without such a metric."""
    if findings.common is None or len(findings.main_columns) < 2:
        return None
    parts = [one for (_, dataset), one in findings.of(findings.common.key).items() if dataset == ALL_DATASETS]
    return _sorted_out(ALL_DATASETS, findings.common, parts)


def _verdict(dataset: str, findings: Findings) -> DatasetVerdict:
    parts = [one for (_, name), one in findings.of(PRIMARY).items() if name == dataset]
    if parts:
        return _sorted_out(dataset, findings.main_columns[dataset], parts)
    rows = findings.results[findings.results["dataset"] == dataset]
    counts = {str(loss): (len(part), len(part)) for loss, part in rows.groupby("loss", sort=True)}
    return DatasetVerdict(dataset, None, 0, 0, diverged=counts, without_value=list(counts))


def _sorted_out(dataset: str, column: MetricColumn, parts: list[Finding]) -> DatasetVerdict:
    sign = 1.0 if column.lower_is_better else -1.0
    with_mean = [(sign * one.mean, one.loss, one) for one in parts if one.mean is not None]
    ranked = [one for *_, one in sorted(with_mean, key=lambda entry: entry[:2])]
    verdict = DatasetVerdict(
        dataset,
        column,
        seeds=ranked[0].seeds if ranked else 0,
        most_seeds=max((one.seeds for one in ranked), default=0),
        best=[one.loss for one in ranked if one.best],
        mean=ranked[0].mean if ranked else None,
        tied=[one.loss for one in ranked if one.tied and not one.best],
        worse=[one.loss for one in ranked if one.tied is False],
        diverged={one.loss: (one.diverged, one.runs) for one in parts if one.diverged},
        without_value=[one.loss for one in parts if one.mean is None and one.diverged == one.runs],
    )
    for one in ranked:
        if one.tied is None:
            verdict.untested.setdefault(one.why, []).append(one.loss)
    return verdict
