"""Verdicts: hand-made effects for each of them, and simulated ledgers for how often they are wrong."""

import numpy as np
import pytest

from benchmark.statistics import seed_variance, two_way_variance
from benchmark.statistics.evidence import NOT_DECIDED, REFUTED, SUPPORTED, Effect, judge, what_it_takes
from benchmark.statistics.measurements import Estimate
from benchmark.statistics.power import detectable_effect, seeds_needed
from benchmark.statistics.variance import Variance

NOISE = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # five seeds: standard error .354, half-width .98 at 95 %
HALF = 0.9814


def estimate(mean: float, noise: np.ndarray = NOISE, size: float = 1.0) -> Estimate:
    values = mean + size * noise
    return Estimate(float(values.mean()), float(values.std(ddof=1)), seed_variance(values), len(values))


def more(mean: float, margin: float = 1.0, **rest) -> Effect:
    return Effect(estimate(mean, **rest), margin, no_worse=False)


def no_worse(mean: float, margin: float = 1.0, **rest) -> Effect:
    return Effect(estimate(mean, **rest), margin, no_worse=True)


@pytest.mark.parametrize(
    ("effect", "verdict", "words"),
    [
        (more(2.0), SUPPORTED, ""),
        (more(0.5), NOT_DECIDED, ""),
        (more(0.5, size=0.1), SUPPORTED, "smaller than the margin"),
        (more(0.5, size=0.1, margin=0.4), SUPPORTED, ""),
        (more(-2.0), REFUTED, "the opposite holds"),
        (more(-0.5), REFUTED, "any gain is smaller than the margin"),
        (more(0.0, size=0.1), REFUTED, "any gain is smaller than the margin"),
        (more(0.1), NOT_DECIDED, ""),
        (no_worse(0.5), SUPPORTED, ""),
        (no_worse(0.0, size=0.1), SUPPORTED, ""),
        (no_worse(-0.5, size=0.1), SUPPORTED, ""),
        (no_worse(-0.5), NOT_DECIDED, ""),
        (no_worse(-1.5), NOT_DECIDED, ""),
        (no_worse(-2.5), REFUTED, "worse by more than the margin"),
    ],
)
def test_each_verdict(effect: Effect, verdict: str, words: str) -> None:
    (found,) = judge([effect])
    assert found.verdict == verdict
    assert words in found.note
    assert bool(found.note) == bool(words)


def test_the_interval_is_that_of_the_mean() -> None:
    (found,) = judge([more(2.0)])
    assert (found.low, found.high) == (pytest.approx(2 - HALF, abs=1e-3), pytest.approx(2 + HALF, abs=1e-3))


def test_bars_are_strict_ends_of_the_interval() -> None:
    """A mean of half a width either side of the bar."""
    assert judge([more(HALF + 0.01)])[0].verdict == SUPPORTED
    assert judge([more(HALF - 0.01)])[0].verdict == NOT_DECIDED
    assert judge([no_worse(HALF - 1 + 0.01)])[0].verdict == SUPPORTED
    assert judge([no_worse(HALF - 1 - 0.01)])[0].verdict == NOT_DECIDED
    assert judge([no_worse(-HALF - 1 - 0.01)])[0].verdict == REFUTED
    assert judge([no_worse(-HALF - 1 + 0.01)])[0].verdict == NOT_DECIDED


def test_what_one_interval_decides_may_not_survive_many_tests() -> None:
    alone = judge([more(1.2, margin=5.0)])[0]
    among = judge([more(1.2, margin=5.0)] + [more(0.0, margin=5.0)] * 20)[0]
    assert alone.verdict == SUPPORTED
    assert among.verdict == NOT_DECIDED
    assert among.note == "decided by its own interval, but not after correction over 21 tests"
    assert among.p_support == pytest.approx(min(21 * alone.p_support, 1.0))
    assert among.support_alpha == pytest.approx(0.05 / 21)


def test_what_is_certain_no_longer_weighs_on_the_rest() -> None:
    found = judge([more(100.0, margin=500.0)] * 20 + [more(1.2, margin=5.0)])
    assert found[-1].verdict == SUPPORTED
    assert judge([more(0.1)])[0].support_alpha == pytest.approx(0.05)


@pytest.mark.parametrize("seeds", [1, 2, 4])
def test_few_seeds_decide_nothing(seeds: int) -> None:
    values = 50 + NOISE[:seeds]
    variance = seed_variance(values) if seeds > 1 else None
    (found,) = judge([Effect(Estimate(50.0, 1.0, variance, seeds), 1.0, no_worse=False)])
    assert found.verdict == NOT_DECIDED
    assert found.note == f"too few paired seeds: {seeds}, a test needs 5"


def test_no_runs_decide_nothing() -> None:
    (found,) = judge([Effect(Estimate(None), 1.0, no_worse=False)])
    assert (found.verdict, found.note) == (NOT_DECIDED, "no seed has a value for both")
    assert what_it_takes(Effect(Estimate(None), 1.0, no_worse=False), found) is None
    assert judge([]) == []


def test_differences_without_variance_decide_nothing() -> None:
    zeros = np.zeros(5)
    better, as_good = judge([more(0.0, noise=zeros), no_worse(0.0, noise=zeros)])
    assert better.verdict == as_good.verdict == NOT_DECIDED
    assert "no variance to test against" in as_good.note


LEDGERS = 600
SEEDS, IDENTITIES = 5, 40
PARTS = {"seeds": (1.0, 0.0), "identities": (0.1, 0.9), "mixed": (0.5, 0.5)}  # of the variance of the mean


def simulated(parts: tuple[float, float], truth: float, seeds: int = SEEDS, seed: int = 0) -> list[Estimate]:
    """Ledgers of one effect each; `parts` are the variances of the mean of SEEDS seeds."""
    rng = np.random.default_rng(seed)
    of_seeds = np.sqrt(parts[0] * SEEDS) * rng.standard_normal((LEDGERS, seeds, 1))
    of_identities = np.sqrt(parts[1] * IDENTITIES) * rng.standard_normal((LEDGERS, 1, IDENTITIES))
    contributions = truth + of_seeds + of_identities
    values = contributions.mean(axis=-1)
    if parts[1] == 0.0:
        return [Estimate(float(row.mean()), 1.0, seed_variance(row), seeds) for row in values]
    pairs = zip(values, contributions, strict=True)
    return [Estimate(float(v.mean()), 1.0, two_way_variance(v, c), seeds, IDENTITIES) for v, c in pairs]


def true_variance(parts: tuple[float, float]) -> Variance:
    of_seeds, of_identities = np.asarray(parts[0]), np.asarray(parts[1])
    freedom = 1.0 / (of_seeds**2 / (SEEDS - 1) + of_identities**2 / (IDENTITIES - 1))
    return Variance(of_seeds, of_identities, np.asarray(SEEDS - 1.0), np.asarray(IDENTITIES - 1.0), freedom)


def share(effects: list[Effect], verdict: str) -> float:
    return float(np.mean([judge([effect])[0].verdict == verdict for effect in effects]))


@pytest.mark.parametrize("parts", PARTS)
def test_no_effect_is_rarely_supported(parts: str) -> None:
    """One-sided: a claim of more without effect, a claim of no worse with a loss as large as the margin."""
    nothing = simulated(PARTS[parts], 0.0)
    assert share([Effect(one, 1.0, no_worse=False) for one in nothing], SUPPORTED) <= 0.045
    worse = simulated(PARTS[parts], -1.0)
    assert share([Effect(one, 1.0, no_worse=True) for one in worse], SUPPORTED) <= 0.045


@pytest.mark.parametrize("parts", PARTS)
def test_a_true_claim_is_rarely_refuted(parts: str) -> None:
    """The least that a true claim can mean: a gain of the margin, or a loss just inside it."""
    gain = simulated(PARTS[parts], 1.0)
    assert share([Effect(one, 1.0, no_worse=False) for one in gain], REFUTED) <= 0.045
    inside = simulated(PARTS[parts], -1.0)
    assert share([Effect(one, 1.0, no_worse=True) for one in inside], REFUTED) <= 0.045


def test_a_ledger_of_nothing_rarely_supports_anything() -> None:
    effects = [Effect(one, 1.0, no_worse=False) for one in simulated(PARTS["mixed"], 0.0)]
    ledgers = [effects[start : start + 20] for start in range(0, LEDGERS, 20)]
    false = [any(one.verdict == SUPPORTED for one in judge(ledger)) for ledger in ledgers]
    assert np.mean(false) <= 0.1  # 30 ledgers: two may
    alone = [any(judge([effect])[0].verdict == SUPPORTED for effect in ledger) for ledger in ledgers]
    assert np.mean(alone) > 0.15  # without correction


@pytest.mark.parametrize("alpha", [0.05, 0.005])
@pytest.mark.parametrize("parts", PARTS)
def test_the_detectable_effect_is_found_four_times_in_five(parts: str, alpha: float) -> None:
    truth = detectable_effect(true_variance(PARTS[parts]), alpha)
    p = [float(one.variance.p_value(np.asarray(one.mean))) for one in simulated(PARTS[parts], truth)]
    assert 0.74 <= np.mean(np.array(p) < alpha) <= 0.86


@pytest.mark.parametrize("parts", ["seeds", "mixed"])
def test_so_many_seeds_find_the_effect_and_fewer_do_not(parts: str) -> None:
    variance = true_variance(PARTS[parts])
    effect = 0.75 * detectable_effect(variance) if parts == "seeds" else 0.88 * detectable_effect(variance)
    needed = seeds_needed(variance, SEEDS, effect)
    assert needed is not None
    assert needed > SEEDS
    found = simulated(PARTS[parts], effect, needed)
    assert 0.74 <= np.mean([float(one.variance.p_value(np.asarray(one.mean))) < 0.05 for one in found]) <= 0.88
    assert seeds_needed(variance, SEEDS, detectable_effect(variance)) == SEEDS


def test_no_number_of_seeds_makes_up_for_few_identities() -> None:
    variance = true_variance(PARTS["identities"])
    assert seeds_needed(variance, SEEDS, 0.9 * detectable_effect(variance)) is None
    assert seeds_needed(variance, SEEDS, 0.0) is None


def test_seeds_alone_follow_the_textbook() -> None:
    """One-sample t-test, standard deviation 1: an effect of 1 takes 10 seeds, of 0.5 takes 34."""
    variance = seed_variance(NOISE / NOISE.std(ddof=1))
    assert seeds_needed(variance, SEEDS, 1.0) == 10
    assert seeds_needed(variance, SEEDS, 0.5) == 34


def test_what_it_takes_names_both_ways() -> None:
    effect = more(0.1)
    needed = what_it_takes(effect, judge([effect])[0])
    assert needed is not None
    assert needed.detectable == pytest.approx(detectable_effect(effect.estimate.variance))
    assert needed.seeds_to_support > needed.seeds_to_refute > 5
    below = no_worse(-1.5)
    needed = what_it_takes(below, judge([below])[0])
    assert needed.seeds_to_support is None
    assert needed.seeds_to_refute > 5
    assert needed.detectable == pytest.approx(-1 + detectable_effect(below.estimate.variance))


def test_the_effect_found_by_few_seeds_needs_as_many_as_a_test_does() -> None:
    values = 50 + NOISE[:2]
    effect = Effect(Estimate(50.0, 1.0, seed_variance(values), 2), 1.0, no_worse=False)
    assert what_it_takes(effect, judge([effect])[0]).seeds_to_support == 5
