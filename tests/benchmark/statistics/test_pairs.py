"""Differences of chosen pairs against those of one baseline, and against numbers written out by hand."""

import numpy as np
import pandas as pd
import pytest

from benchmark.statistics import ALL_DATASETS, Pairing, compare, compare_pairs, compare_pairs_over_datasets, holm

SEEDS = 6
RNG = np.random.default_rng(3)
VALUES = {(loss, data): RNG.normal(0.9, 0.01, SEEDS) for loss in "abc" for data in ("x", "y")}
TABLE = pd.DataFrame(
    [(loss, data, seed, value) for (loss, data), values in VALUES.items() for seed, value in enumerate(values)],
    columns=["loss", "dataset", "seed", "accuracy"],
).assign(other=lambda table: 1.0 - table["accuracy"])


def test_pairs_against_one_baseline_are_what_compare_gives() -> None:
    expected = compare(TABLE, "a", ["accuracy"])
    expected = expected[expected["dataset"] != ALL_DATASETS]
    pairings = [Pairing(str(row.loss), "a", str(row.dataset), "accuracy") for row in expected.itertuples()]
    found = compare_pairs(TABLE, pairings)
    for column in ("loss", "dataset", "difference", "low", "high", "p", "p_holm", "family", "n_seeds"):
        assert found[column].tolist() == expected[column].tolist(), column


def test_each_pair_has_its_own_metric_and_all_are_one_family() -> None:
    pairings = [Pairing("b", "a", "x", "accuracy"), Pairing("c", "b", "y", "other")]
    found = compare_pairs(TABLE, pairings)
    by_hand = [np.mean(VALUES["b", "x"] - VALUES["a", "x"]), np.mean(VALUES["b", "y"] - VALUES["c", "y"])]
    assert found["difference"].tolist() == pytest.approx(by_hand)
    assert found["metric"].tolist() == ["accuracy", "other"]
    assert found["p_holm"].tolist() == pytest.approx(holm(found["p"].to_numpy(dtype=float)).tolist())
    assert set(found["family"]) == {2}


def test_over_datasets_it_is_the_plain_mean_and_a_family_of_its_own() -> None:
    found = compare_pairs_over_datasets(TABLE, [("b", "a"), ("c", "a"), ("d", "a")], ["x", "y"], "accuracy")
    expected = compare(TABLE, "a", ["accuracy"])
    expected = expected[expected["dataset"] == ALL_DATASETS]
    assert found["difference"].tolist()[:2] == pytest.approx(expected["difference"].tolist())
    assert found["p_holm"].tolist()[:2] == pytest.approx(expected["p_holm"].tolist())
    assert pd.isna(found["difference"].iloc[2])
    assert set(found["dataset"]) == {ALL_DATASETS}


def test_without_pairs_there_is_an_empty_table() -> None:
    assert len(compare_pairs(TABLE, [])) == 0
    assert "p_holm" in compare_pairs(TABLE, [])


def test_a_metric_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="eer"):
        compare_pairs(TABLE, [Pairing("a", "b", "x", "eer")])
