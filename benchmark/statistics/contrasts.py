"""Weighted sums of runs' figures, paired by seed and test identity: a loss minus another, or a gain minus a gain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.statistics.measurements import Estimate, Jackknife, arrange, check_results, estimate
from benchmark.statistics.variance import Floats


@dataclass(frozen=True)
class Term:
    """`weight` times a loss's figure on a dataset."""

    weight: float
    loss: str
    dataset: str


def contrast(results: pd.DataFrame, terms: Sequence[Term], metric: str, jackknife: Jackknife | None = None) -> Estimate:
    """The mean of the sum over the seeds that all terms have; no mean where a term has no runs.

    Terms may stand on several datasets only if those have the same test identities, such as one set at two sizes
    of the embedding: then contributions of the identities are paired as well.
    """
    check_results(results, [metric])
    parts = [results[(results["loss"] == term.loss) & (results["dataset"] == term.dataset)] for term in terms]
    if any(part.empty for part in parts):
        return Estimate(None)
    names = [f"{number:04}" for number in range(len(terms))]
    joined = pd.concat([part.assign(loss=name, dataset="") for name, part in zip(names, parts, strict=True)])
    measured = arrange(joined, "", metric, _renamed(jackknife, terms, names, joined["seed"].unique().tolist()))
    weights = np.array([term.weight for term in terms])
    contributions = measured.contributions
    return estimate(
        np.tensordot(weights, measured.values, axes=1),
        None if contributions is None else _weighted(weights, contributions),
        int(measured.was_run.any(axis=0).sum()),
    )


def _renamed(
    jackknife: Jackknife | None, terms: Sequence[Term], names: Sequence[str], seeds: Sequence[int]
) -> Jackknife | None:
    if jackknife is None:
        return None
    named = [(name, term, seed) for name, term in zip(names, terms, strict=True) for seed in seeds]
    keys = {(name, "", seed): (term.loss, term.dataset, seed) for name, term, seed in named}
    return {new: jackknife[old] for new, old in keys.items() if old in jackknife}


def _weighted(weights: Floats, contributions: Floats) -> Floats:
    weighted: Floats = np.tensordot(weights, contributions, axes=1)
    return weighted
