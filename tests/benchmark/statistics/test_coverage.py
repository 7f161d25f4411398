"""Simulated benchmarks: nominal 95 % intervals cover the truth, and false alarms keep to their rate.

With 1,000 benchmarks the standard error of a coverage of 95 % is .7 %, and the bounds are 93 % and 97 %.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.metrics import pair_jackknife, score_counts
from benchmark.metrics._curves import auc, eer
from benchmark.statistics import compare, holm, pseudo_values, seed_variance, two_way_variance
from benchmark.statistics.variance import over_datasets

BENCHMARKS = 1000
SHARES = {"seeds": (1.0, 0.05), "identities": (0.05, 1.0), "mixed": (0.5, 0.5)}  # of the variance of the mean


def differences(
    shape: tuple[int, ...],
    seeds: int,
    identities: int,
    share: tuple[float, float],
    seed: int,
    skewed: bool = False,
    rest: float = 0.3,
) -> np.ndarray:
    """… × seeds × identities with true mean 0: seed effects, identity effects and the rest."""
    rng = np.random.default_rng(seed)
    effects = (*shape, 1, identities)
    of_identities = rng.exponential(1, effects) - 1 if skewed else rng.standard_normal(effects)
    return (
        np.sqrt(share[0] * seeds) * rng.standard_normal((*shape, seeds, 1))
        + np.sqrt(share[1] * identities) * of_identities
        + np.sqrt(rest * seeds * identities) * rng.standard_normal((*shape, seeds, identities))
    )


def covered(values: np.ndarray, contributions: np.ndarray, truth: float) -> float:
    half = two_way_variance(values, contributions).half_width()
    return float((np.abs(values.mean(axis=-1) - truth) <= half).mean())


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("regime", SHARES)
@pytest.mark.parametrize("seeds", [5, 10])
def test_a_mean_over_identities_is_covered(seeds, regime, skewed):
    d = differences((BENCHMARKS,), seeds, 60, SHARES[regime], seed=seeds, skewed=skewed)
    assert 0.93 <= covered(d.mean(axis=-1), d, 0.0) <= 0.97


@pytest.mark.parametrize("regime", SHARES)
@pytest.mark.parametrize("seeds", [5, 10])
def test_a_mean_over_datasets_is_covered(seeds, regime):
    scales = np.array([1.0, 0.5, 2.0])[:, None, None, None]
    d = scales * differences((3, BENCHMARKS), seeds, 30, SHARES[regime], seed=seeds)
    values = d.mean(axis=-1)
    variance = over_datasets([two_way_variance(v, c) for v, c in zip(values, d, strict=True)])
    means = values.mean(axis=(0, -1))
    assert 0.93 <= (np.abs(means) <= variance.half_width()).mean() <= 0.97
    assert 0.02 <= (variance.p_value(means) < 0.05).mean() <= 0.07


@pytest.mark.parametrize("regime", SHARES)
def test_the_table_of_comparisons_covers(regime):
    """The same through frames: every benchmark is a dataset of one big table."""
    d = differences((BENCHMARKS, 2), 5, 20, SHARES[regime], seed=3)
    cells = [(f"loss {b}", f"{a:04}", s) for a in range(BENCHMARKS) for b in range(2) for s in range(5)]
    results = pd.DataFrame(cells, columns=["loss", "dataset", "seed"]).assign(accuracy=d.mean(axis=-1).ravel())
    without = (d.sum(axis=-1, keepdims=True) - d) / 19
    stored = {cell: {"accuracy": row} for cell, row in zip(cells, without.reshape(-1, 20), strict=True)}
    table = compare(results, "loss 0", jackknife=stored)[:BENCHMARKS]
    assert 0.93 <= ((table["low"] <= 0) & (table["high"] >= 0)).mean() <= 0.97
    assert 0.02 <= (table["p"] < 0.05).mean() <= 0.06  # careful, never too eager
    assert table["significant"].sum() <= 1


def test_seeds_alone_do_not_cover_another_test_set():
    values = differences((BENCHMARKS,), 5, 60, SHARES["identities"], seed=0).mean(axis=-1)
    assert (np.abs(values.mean(axis=-1)) <= seed_variance(values).half_width()).mean() < 0.85


IDENTITIES, MEANS = 30, np.array([1.8, 1.5])
EFFECTS = {"seeds": (0.5, 0.2), "identities": (0.05, 0.8), "mixed": (0.25, 0.5)}  # of seeds, of identities


def true_difference(metric: str, of_seeds: float, of_identities: float) -> float:
    """Normal scores: same pairs around mean + seed + identity, different ones around half of two."""
    same, different = np.sqrt(1 + of_identities**2), np.sqrt(1 + of_identities**2 / 2)
    if metric == "auc":
        values = stats.norm.cdf(MEANS / np.sqrt(same**2 + different**2 + of_seeds**2))
    else:
        values = stats.norm.cdf(-MEANS / np.sqrt((same + different) ** 2 + of_seeds**2))
    return float(values[0] - values[1])


def measured_pairs(seeds: int, of_seeds: float, of_identities: float) -> tuple[dict, dict]:
    """Two losses on the pairs of 30 identities: metrics and their values without each identity."""
    rng = np.random.default_rng(1)
    own, left = np.repeat(np.arange(IDENTITIES), 4), np.repeat(np.arange(IDENTITIES), 6)
    n, same = len(own), np.arange(len(own) + len(left)) < len(own)
    shape = (BENCHMARKS, 2, seeds)
    values = {name: np.empty(shape) for name in ("auc", "eer")}
    without = {name: np.empty((*shape, IDENTITIES)) for name in ("auc", "eer")}
    for benchmark in range(BENCHMARKS):
        right = (left + rng.integers(1, IDENTITIES, len(left))) % IDENTITIES
        identities = np.vstack([np.column_stack([own, own]), np.column_stack([left, right])])
        effect = of_identities * rng.standard_normal((2, 2, IDENTITIES))
        for loss in range(2):
            for seed in range(seeds):
                scores = rng.standard_normal(len(same))
                scores[:n] += MEANS[loss] + of_seeds * rng.standard_normal() + effect[loss, 0, own]
                scores[n:] += (effect[loss, 1, left] + effect[loss, 1, right]) / 2
                counts, jackknife = score_counts(scores, same), pair_jackknife(scores, same, identities)
                for name, metric in (("auc", auc), ("eer", eer)):
                    values[name][benchmark, loss, seed] = metric(counts)
                    without[name][benchmark, loss, seed] = jackknife[name]
    return values, without


@pytest.mark.parametrize("regime", EFFECTS)
def test_auc_and_eer_of_pairs_are_covered(regime):
    values, without = measured_pairs(10, *EFFECTS[regime])
    for name in values:
        contributions = pseudo_values(values[name], without[name])
        d, of_identities = values[name][:, 0] - values[name][:, 1], contributions[:, 0] - contributions[:, 1]
        truth = true_difference(name, *EFFECTS[regime])
        for seeds in (5, 10):
            share = covered(d[:, :seeds], of_identities[:, :seeds], truth)
            assert 0.93 <= share <= 0.97, (name, seeds, share)


PAIRS = 60


def measured_without_identities(seeds: int, as_two: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """AUC of two losses on pairs of their own images. `as_two`: a different pair counts as two identities."""
    rng = np.random.default_rng(2)
    same = np.arange(PAIRS) % 2 == 0
    image = np.arange(2 * PAIRS).reshape(-1, 2)
    ends = np.where(same[:, None], image[:, :1], image) if as_two else np.repeat(image[:, :1], 2, axis=1)
    values, parts = np.empty((2, BENCHMARKS, seeds)), np.empty((2, BENCHMARKS, seeds, len(np.unique(ends))))
    for benchmark in range(BENCHMARKS):
        effect = rng.standard_normal((2, PAIRS))
        for loss in range(2):
            for seed in range(seeds):
                scores = (
                    effect[loss] + 0.2 * rng.standard_normal(PAIRS) + same * (MEANS[loss] + 0.1 * rng.standard_normal())
                )
                values[loss, benchmark, seed] = auc(score_counts(scores, same))
                without = pair_jackknife(scores, same, ends)["auc"]
                parts[loss, benchmark, seed] = pseudo_values(values[loss, benchmark, seed], without)
    truth = stats.norm.cdf(MEANS / np.sqrt(2 * 1.04 + 0.01))
    return values[0] - values[1], parts[0] - parts[1], float(truth[0] - truth[1])


def test_pairs_without_identities_are_covered():
    values, contributions, truth = measured_without_identities(5, as_two=False)
    assert 0.93 <= covered(values, contributions, truth) <= 0.97
    doubled = measured_without_identities(5, as_two=True)
    assert covered(*doubled) > 0.97  # two identities for one pair: intervals are too wide


@pytest.mark.parametrize("regime", SHARES)
@pytest.mark.parametrize("seeds", [5, 10])
def test_holm_keeps_the_family_wise_rate(seeds, regime):
    """Five losses against a baseline on three datasets, none of them different."""
    noise = differences((BENCHMARKS, 3, 6), seeds, 30, SHARES[regime], seed=seeds)
    d = noise[:, :, 1:] - noise[:, :, :1]
    values = d.mean(axis=-1)
    p = two_way_variance(values, d).p_value(values.mean(axis=-1)).reshape(BENCHMARKS, -1)
    alarms = np.mean([holm(family).min() < 0.05 for family in p])
    assert alarms <= 0.07
    assert (p.min(axis=1) < 0.05).mean() > 0.2  # uncorrected


def test_holm_keeps_the_rate_of_a_large_family_decided_by_seeds():
    """50 comparisons look for p < .001, where Satterthwaite's tail would alarm far too often."""
    d = differences((BENCHMARKS, 50), 5, 30, (1.0, 0.01), seed=5, rest=0.01)
    values = d.mean(axis=-1)
    variance, means = two_way_variance(values, d), values.mean(axis=-1)
    assert np.mean([holm(family).min() < 0.05 for family in variance.p_value(means)]) <= 0.07
    light = 2 * stats.t.sf(np.abs(means) / np.sqrt(variance.variance), variance.freedom)
    assert np.mean([holm(family).min() < 0.05 for family in light]) > 0.08


@pytest.mark.parametrize("regime", SHARES)
@pytest.mark.parametrize("seeds", [5, 10])
def test_the_best_of_equals_is_tied_with_all(seeds, regime):
    """The largest difference among six equal losses, corrected over all pairs."""
    noise = differences((BENCHMARKS, 6), seeds, 30, SHARES[regime], seed=seeds)
    one, other = np.triu_indices(6, 1)
    d = noise[:, one] - noise[:, other]
    values = d.mean(axis=-1)
    p = two_way_variance(values, d).p_value(values.mean(axis=-1))
    assert np.mean([holm(family).min() < 0.05 for family in p]) <= 0.07
