"""The ledger: a verdict on every part of every claim, on every dataset that it names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pandas as pd

from benchmark import metrics
from benchmark.claims.model import Claim, ClaimPart, TunedLoss
from benchmark.provenance import provenance_sentence
from benchmark.results import ExperimentResults
from benchmark.statistics import Effect, Estimate, Jackknife, Term, Verdict, contrast, judge, what_it_takes
from benchmark.statistics.evidence import NOT_DECIDED, REFUTED, SUPPORTED
from benchmark.text import counted

NOT_RUN = "not run"


class Lacking(NamedTuple):
    """A run that has no result."""

    loss: str  # the row's label
    name: str  # of the registered loss
    dataset: str


@dataclass(frozen=True)
class LedgerInput:
    """An experiment's results: the tidy frame, and what is missing in it."""

    table: pd.DataFrame
    jackknife: Jackknife | None = None
    missing: Sequence[Lacking] = ()
    origin: str = ""


@dataclass(frozen=True)
class ClaimFinding:
    """A part of a claim on one dataset. Differences are loss − against, in the part's unit."""

    claim: Claim
    part: ClaimPart
    dataset: str
    against: str  # in words: a row's label, a value, or the setting that tuning chose
    verdict: str
    note: str = ""
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    n_seeds: int = 0
    n_left_out: int = 0  # seeds in which a run diverged
    n_identities: int = 0
    p_support: float | None = None
    p_refute: float | None = None
    detectable: float | None = None
    seeds_to_support: int | None = None
    seeds_to_refute: int | None = None

    @property
    def key(self) -> str:
        return f"{self.claim.number}{self.part.letter}"


@dataclass(frozen=True)
class Ledger:
    claims: Sequence[Claim]
    findings: Sequence[ClaimFinding]
    origin: str = ""  # what the runs were made with, in a sentence

    def of(self, claim: Claim, dataset: str | None = None) -> list[ClaimFinding]:
        found = [finding for finding in self.findings if finding.claim.number == claim.number]
        return [finding for finding in found if dataset is None or finding.dataset == dataset]

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(finding.dataset for finding in self.findings))

    def whole(self, claim: Claim, dataset: str) -> str | None:
        """The verdict on a claim's parts together; None where it says nothing of the dataset."""
        found = self.of(claim, dataset)
        return whole_verdict([finding.verdict for finding in found]) if found else None


def whole_verdict(of_parts: Sequence[str]) -> str:
    """Supported if all parts are, refuted if any part is."""
    return next((verdict for verdict in (REFUTED, NOT_RUN, NOT_DECIDED) if verdict in of_parts), SUPPORTED)


def results_of(collected: ExperimentResults) -> LedgerInput:
    missing = [Lacking(cell.label, cell.loss, cell.dataset_label) for cell in collected.missing]
    return LedgerInput(collected.table, collected.jackknife, missing, provenance_sentence(collected.runs))


def make_ledger(claims: Sequence[Claim], results: Mapping[str, LedgerInput]) -> Ledger:
    """Every part on every dataset, by the results of the claims' experiments; all are corrected together."""
    tests = [
        _test(claim, part, dataset, results[claim.experiment])
        for claim in claims
        for part in claim.parts
        for dataset in part.datasets
    ]
    verdicts = iter(judge([effect for _, effect in tests if effect is not None]))
    found = [finding if effect is None else _found(finding, effect, next(verdicts)) for finding, effect in tests]
    return Ledger(claims, found, " ".join(one.origin for one in results.values() if one.origin))


def _test(claim: Claim, part: ClaimPart, dataset: str, results: LedgerInput) -> tuple[ClaimFinding, Effect | None]:
    """The finding before its verdict, and the effect to test; None where runs are missing."""
    blank = ClaimFinding(claim, part, dataset, _in_words(part, part.against, dataset), NOT_RUN)
    lacking = _lacking(part, dataset, results)
    if lacking:
        return replace(blank, note=lacking), None
    against = part.against
    if isinstance(against, TunedLoss):
        chosen, how = _tune(against, part.against_dataset or dataset, results.table)
        if chosen is None:
            return replace(blank, verdict=NOT_DECIDED, note=how), None
        against = chosen
        blank = replace(blank, against=_in_words(part, against, dataset), note=how)
    measured = contrast(results.table, _terms(part, dataset, against), part.metric, results.jackknife)
    value = against / part.scale if isinstance(against, float) else 0.0
    mean = None if measured.mean is None else part.sign * (measured.mean - value)
    effect = Effect(replace(measured, mean=mean), part.margin / part.scale, part.no_worse)
    return replace(blank, note=_joined(blank.note, _left_out(measured))), effect


def _found(blank: ClaimFinding, effect: Effect, verdict: Verdict) -> ClaimFinding:
    """The finding with its figures, turned back from the claimed direction to loss − against."""
    part, estimate = blank.part, effect.estimate
    needed = what_it_takes(effect, verdict) if verdict.verdict == NOT_DECIDED else None

    def shown(value: float | None) -> float | None:
        return None if value is None else part.sign * part.scale * value

    low, high = shown(verdict.low), shown(verdict.high)
    return replace(
        blank,
        verdict=verdict.verdict,
        note=_joined(blank.note, verdict.note),
        difference=shown(estimate.mean),
        low=low if part.sign > 0 else high,
        high=high if part.sign > 0 else low,
        n_seeds=estimate.n_seeds,
        n_left_out=estimate.left_out,
        n_identities=estimate.n_identities,
        p_support=verdict.p_support,
        p_refute=verdict.p_refute,
        detectable=shown(needed.detectable) if needed else None,
        seeds_to_support=needed.seeds_to_support if needed else None,
        seeds_to_refute=needed.seeds_to_refute if needed else None,
    )


def _terms(part: ClaimPart, dataset: str, against: str | float) -> list[Term]:
    sides = [(1.0, part.loss, dataset)]
    if isinstance(against, str):
        sides.append((-1.0, against, part.against_dataset or dataset))
    terms = [Term(*side) for side in sides]
    return terms + [Term(-weight, part.over, place) for weight, _, place in sides if part.over is not None]


def _lacking(part: ClaimPart, dataset: str, results: LedgerInput) -> str:
    """What the part needs and the results do not have, in words."""
    other = part.against_dataset or dataset
    rows = {(part.loss, dataset), (part.over, dataset), (part.over, other)}
    rows |= {(part.against, other)} if isinstance(part.against, str) else set()
    tuned = part.against if isinstance(part.against, TunedLoss) else None
    name = tuned.name if tuned else None
    count = sum((run.loss, run.dataset) in rows or (run.name, run.dataset) == (name, other) for run in results.missing)
    if count:
        return f"{count} {'run has' if count == 1 else 'runs have'} no result"
    needed = [part.metric, *([tuned.by] if tuned else [])]
    return "; ".join(f"no run has the metric {key}" for key in needed if key not in results.table)


def _tune(tuned: TunedLoss, dataset: str, table: pd.DataFrame) -> tuple[str | None, str]:
    """The row of the loss with the best mean on validation data over all seeds, and how it was chosen."""
    rows = table[(table["name"] == tuned.name) & (table["dataset"] == dataset)]
    if rows.empty:
        return None, f"no setting of {tuned.name} was run on {dataset}"
    means = rows.groupby("loss")[tuned.by].apply(lambda values: values.mean(skipna=False)).dropna()
    if means.empty:
        return None, f"every setting of {tuned.name} diverged in some run"
    best = means.idxmin() if metrics.column(tuned.by).lower_is_better else means.idxmax()
    return str(best), f"chosen by {tuned.by} among {rows['loss'].nunique()} settings"


def _in_words(part: ClaimPart, against: str | float | TunedLoss, dataset: str) -> str:
    if isinstance(against, TunedLoss):
        return f"tuned {against.name}"
    name = f"{against:g} {metrics.column(part.metric).unit}".rstrip() if isinstance(against, float) else against
    return name if part.against_dataset in (None, dataset) else f"{name} on {part.against_dataset}"


def _left_out(estimate: Estimate) -> str:
    count = estimate.left_out
    return f"{counted(count, 'seed')} left out because a run diverged" if count else ""


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
