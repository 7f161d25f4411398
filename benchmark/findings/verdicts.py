"""Who is best on a dataset, who is tied with it, who is worse, and who could not be tested."""

from dataclasses import dataclass, field

from benchmark.findings.findings import PRIMARY, Finding, Findings
from benchmark.metrics import MetricColumn
from benchmark.statistics import ALL_DATASETS, MIN_SEEDS


@dataclass(frozen=True)
class DatasetVerdict:
    """The losses of one dataset, grouped by what the tests say about them; each list has the best means first."""

    dataset: str
    column: MetricColumn | None  # None: no run has a value
    seeds: int  # of the best loss's mean
    most_seeds: int  # of any loss's mean
    best: list[str] = field(default_factory=list)  # more than one where means are equal
    mean: float | None = None  # of the best
    tied: list[str] = field(default_factory=list)  # no other loss is significantly better
    worse: list[str] = field(default_factory=list)  # significantly worse than the best
    behind: dict[str, str] = field(default_factory=dict)  # significantly worse than this loss, but not than the best
    untested: dict[str, list[str]] = field(default_factory=dict)  # by the reason
    diverged: dict[str, tuple[int, int]] = field(default_factory=dict)  # diverged runs, all runs
    without_value: list[str] = field(default_factory=list)  # every run diverged

    @property
    def ranked(self) -> list[str]:
        """Losses with a mean."""
        untested = [loss for part in self.untested.values() for loss in part]
        return [*self.best, *self.tied, *self.worse, *self.behind, *untested]

    def has_on_top(self, loss: str) -> bool:
        """Whether the loss is best or tied with the best."""
        return loss in self.best or loss in self.tied

    def speaks_of(self, loss: str) -> bool:
        """Whether a test, or divergence in every run, says something about the loss."""
        return loss in [*self.best, *self.tied, *self.worse, *self.behind, *self.without_value]

    @property
    def is_tested(self) -> bool:
        """Whether there are seeds enough, and some other loss was tested against the best or all share the first
        place."""
        enough = len(self.ranked) > 1 and self.most_seeds >= MIN_SEEDS
        return enough and (bool(self.tied or self.worse) or not self.untested)

    @property
    def is_clear(self) -> bool:
        """Whether one loss is best and every other one significantly worse."""
        return len(self.best) == 1 and len(self.worse) == len(self.ranked) - 1 > 0

    @property
    def is_open(self) -> bool:
        """Whether no loss is significantly worse than another."""
        return len(self.ranked) > 1 and len(self.best) + len(self.tied) == len(self.ranked)


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
    best = [one for one in ranked if one.best]
    names = [one.loss for one in best]
    beaten = {one.loss: one.worse_than for one in ranked if one.tied is False}
    verdict = DatasetVerdict(
        dataset,
        column,
        seeds=best[0].seeds if best else 0,
        most_seeds=max((one.seeds for one in ranked), default=0),
        best=names,
        mean=best[0].mean if best else None,
        tied=[one.loss for one in ranked if one.tied and not one.best],
        worse=[loss for loss, better in beaten.items() if better in names],
        behind={loss: better for loss, better in beaten.items() if better not in names},
        diverged={one.loss: (one.diverged, one.runs) for one in parts if one.diverged},
        without_value=[one.loss for one in parts if one.mean is None and one.diverged == one.runs],
    )
    for one in ranked:
        if one.tied is None:
            verdict.untested.setdefault(one.why, []).append(one.loss)
    return verdict
