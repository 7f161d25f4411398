"""Weighted sums of figures against differences written out by hand."""

import numpy as np
import pandas as pd
import pytest

from benchmark.statistics import two_way_variance
from benchmark.statistics.measurements import Term, arrange, contrast

LOSSES, DATASETS, SEEDS, IDENTITIES = ("a", "b"), ("small", "large"), 5, 12
RNG = np.random.default_rng(0)
CONTRIBUTIONS = RNG.standard_normal((2, 2, SEEDS, IDENTITIES))  # losses × datasets × seeds × identities
CELLS = [(loss, data, seed) for loss in range(2) for data in range(2) for seed in range(SEEDS)]
TABLE = pd.DataFrame(
    [(LOSSES[loss], DATASETS[data], seed, CONTRIBUTIONS[loss, data, seed].mean()) for loss, data, seed in CELLS],
    columns=["loss", "dataset", "seed", "accuracy"],
)
JACKKNIFE = {
    (LOSSES[loss], DATASETS[data], seed): {
        "accuracy": (CONTRIBUTIONS[loss, data, seed].sum() - CONTRIBUTIONS[loss, data, seed]) / (IDENTITIES - 1)
    }
    for loss, data, seed in CELLS
}


def test_a_difference_is_that_of_the_comparisons() -> None:
    found = contrast(TABLE, [Term(1, "a", "small"), Term(-1, "b", "small")], "accuracy", JACKKNIFE)
    assert found == arrange(TABLE, "small", "accuracy", JACKKNIFE).difference("a", "b")
    assert found.n_identities == IDENTITIES


def test_a_difference_of_differences_is_paired_by_seed_and_identity() -> None:
    terms = [Term(1, "a", "large"), Term(-1, "b", "large"), Term(-1, "a", "small"), Term(1, "b", "small")]
    found = contrast(TABLE, terms, "accuracy", JACKKNIFE)
    by_hand = (CONTRIBUTIONS[0, 1] - CONTRIBUTIONS[1, 1]) - (CONTRIBUTIONS[0, 0] - CONTRIBUTIONS[1, 0])
    expected = two_way_variance(by_hand.mean(axis=-1), by_hand)
    assert found.mean == pytest.approx(by_hand.mean())
    assert found.variance.of_seeds == pytest.approx(expected.of_seeds)
    assert found.variance.of_identities == pytest.approx(expected.of_identities)
    assert (found.n_seeds, found.n_identities, found.left_out) == (SEEDS, IDENTITIES, 0)


def test_one_term_is_the_mean() -> None:
    found = contrast(TABLE, [Term(1, "b", "large")], "accuracy")
    assert found == arrange(TABLE, "large", "accuracy").of("b")
    assert found.n_identities == 0


def test_seeds_that_one_term_lacks_are_left_out() -> None:
    table = TABLE.copy()
    table.loc[(table["loss"] == "a") & (table["dataset"] == "large") & (table["seed"] == 3), "accuracy"] = np.nan
    table = table[~((table["dataset"] == "small") & (table["seed"] == 0))]
    found = contrast(table, [Term(1, "a", "large"), Term(-1, "a", "small")], "accuracy", JACKKNIFE)
    difference = (CONTRIBUTIONS[0, 1] - CONTRIBUTIONS[0, 0]).mean(axis=-1)[[1, 2, 4]]
    assert found.mean == pytest.approx(difference.mean())
    assert (found.n_seeds, found.left_out) == (3, 2)


def test_a_term_without_runs_has_no_mean() -> None:
    assert contrast(TABLE, [Term(1, "a", "small"), Term(-1, "c", "small")], "accuracy").mean is None


def test_an_unknown_figure_is_named() -> None:
    with pytest.raises(ValueError, match="lack the columns \\['eer'\\]"):
        contrast(TABLE, [Term(1, "a", "small")], "eer")
