import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.statistics import (
    ALL_DATASETS,
    MIN_SEEDS,
    SEEDS,
    SEEDS_AND_IDENTITIES,
    compare,
    every_pair,
    holm,
    interval_in_words,
    summarise,
    tied_with_best,
)


def frame(**values: list[float]) -> pd.DataFrame:
    """One dataset; each loss with its accuracy in seeds 0, 1, …"""
    rows = [(loss, "glyphs", s, v) for loss, row in values.items() for s, v in enumerate(row)]
    return pd.DataFrame(rows, columns=["loss", "dataset", "seed", "accuracy"])


def simulated(losses: dict[str, float], datasets: int, seeds: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(datasets):
        shared = rng.standard_normal(seeds)
        for loss, mean in losses.items():
            values = mean + 0.02 * shared + 0.01 * rng.standard_normal(seeds)
            rows += [(loss, f"set {d}", s, value) for s, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["loss", "dataset", "seed", "accuracy"])


def row(table: pd.DataFrame, **wanted: str) -> pd.Series:
    for column, value in wanted.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def nothing_is_nan(table: pd.DataFrame) -> bool:
    return not any(isinstance(v, float) and np.isnan(v) for v in table.astype(object).to_numpy().ravel())


def test_summary_by_hand():
    found = row(summarise(frame(arcface=[0.8, 0.9, 1.0])), loss="arcface")
    assert found["mean"] == pytest.approx(0.9)
    assert found["sd_seeds"] == pytest.approx(0.1)
    assert found["half_width"] == pytest.approx(stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3))
    assert found["high"] - found["mean"] == pytest.approx(found["half_width"])
    assert found["carries"] == SEEDS
    assert interval_in_words(SEEDS) == "95% t interval, carries seeds"
    assert (found["n_seeds"], found["left_out"], found["n_identities"]) == (3, 0, 0)


def test_summary_carries_identities_where_they_are_stored():
    rng = np.random.default_rng(0)
    d = 0.9 + 0.1 * rng.standard_normal((5, 20)) + 0.1 * rng.standard_normal((1, 20))
    results = frame(arcface=d.mean(axis=1).tolist())
    without = (d.sum(axis=1, keepdims=True) - d) / 19
    stored = {("arcface", "glyphs", s): {"accuracy": without[s]} for s in range(5)}
    found = row(summarise(results, jackknife=stored), loss="arcface")
    assert found["carries"] == SEEDS_AND_IDENTITIES
    assert interval_in_words(SEEDS_AND_IDENTITIES) == "95% t interval, carries seeds and test identities"
    assert found["n_identities"] == 20
    assert found["half_width"] > row(summarise(results), loss="arcface")["half_width"]
    del stored["arcface", "glyphs", 3]
    assert row(summarise(results, jackknife=stored), loss="arcface")["n_identities"] == 0


def test_diverged_runs_are_left_out_and_counted():
    results = frame(arcface=[0.9, np.nan, 0.8, np.inf], dead=[np.nan] * 4, once=[0.5, np.nan, np.nan, np.nan])
    table = summarise(results)
    assert (row(table, loss="arcface")["n_seeds"], row(table, loss="arcface")["left_out"]) == (2, 2)
    assert row(table, loss="dead")["mean"] is pd.NA
    assert row(table, loss="dead")["left_out"] == 4
    assert row(table, loss="dead")["note"] == "no run has a value"
    assert row(table, loss="once")["mean"] == 0.5
    assert row(table, loss="once")["note"] == "one seed: no interval"
    assert nothing_is_nan(table)


def test_a_comparison_without_identities_is_the_paired_t_test():
    results = simulated({"arcface": 0.92, "softmax": 0.9}, 1, 6)
    values = results.pivot_table(index="seed", columns="loss", values="accuracy")
    expected = stats.ttest_rel(values["arcface"], values["softmax"])
    found = row(compare(results, "softmax"), loss="arcface")
    low, high = expected.confidence_interval(0.95)
    assert found["difference"] == pytest.approx((values["arcface"] - values["softmax"]).mean())
    assert found["p"] == pytest.approx(expected.pvalue)
    assert (found["low"], found["high"]) == pytest.approx((low, high))


def test_seeds_are_paired_by_number_not_by_order():
    results = simulated({"arcface": 0.92, "softmax": 0.9}, 2, 6)
    shuffled = results.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(compare(shuffled, "softmax"), compare(results, "softmax"))


def test_only_seeds_that_both_have_are_compared():
    results = frame(arcface=[0.9, 0.8, 0.7, 0.8, 0.9, 0.8], softmax=[0.8, np.nan, 0.7, 0.7, 0.6, 0.8])
    results = results[~((results["loss"] == "arcface") & (results["seed"] == 0))]
    found = row(compare(results, "softmax"), loss="arcface")
    assert (found["n_seeds"], found["left_out"]) == (4, 2)
    assert found["difference"] == pytest.approx((0 + 0.1 + 0.3 + 0) / 4)


@pytest.mark.parametrize("seeds", [1, 2, 4, 5])
def test_too_few_seeds_say_so_instead_of_a_p_value(seeds):
    results = simulated({"arcface": 0.92, "softmax": 0.5}, 1, seeds)
    found = row(compare(results, "softmax"), loss="arcface")
    assert (found["p"] is pd.NA) == (seeds < MIN_SEEDS)
    assert (found["low"] is pd.NA) == (seeds < 2)
    if seeds < MIN_SEEDS:
        assert found["note"] == f"too few paired seeds: {seeds}, a test needs 5"
        assert found["significant"] is pd.NA
    assert nothing_is_nan(compare(results, "softmax"))


def test_equal_losses_and_a_constant_difference():
    same = [0.8, 0.7, 0.9, 0.6, 0.8]
    results = frame(arcface=same, copy=same, shifted=[v + 0.1 for v in same])
    table = compare(results, "arcface")
    assert row(table, loss="copy")["p"] == 1.0
    assert row(table, loss="copy")["note"] == "equal in every seed"
    assert row(table, loss="shifted")["p"] is pd.NA
    assert "no variance" in row(table, loss="shifted")["note"]


def test_some_losses_have_another_baseline():
    values = {"a": [0.1, 0.2, 0.3, 0.4, 0.6], "b": [0.2, 0.3, 0.4, 0.5, 0.9], "c": [0.3, 0.5, 0.6, 0.7, 0.8]}
    found = compare(frame(**values), "a", against={"c": "b"})
    assert list(zip(found["loss"], found["baseline"], strict=True)) == [("b", "a"), ("c", "b")]
    assert row(found, loss="c")["difference"] == pytest.approx(0.12)
    assert set(found["family"]) == {2}


def test_holm_by_hand():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.6, 0.5])), [1.0, 1.0])
    assert len(holm(np.array([]))) == 0


def test_the_family_is_all_losses_and_datasets_of_a_metric():
    results = simulated({"softmax": 0.9, "arcface": 0.91, "cosface": 0.93, "adacos": 0.9}, 2, 5)
    results["eer"] = 1 - results["accuracy"] ** 2
    table = compare(results, "softmax")
    for metric in ("accuracy", "eer"):
        of_metric = table[table["metric"] == metric]
        each = of_metric[of_metric["dataset"] != ALL_DATASETS]
        np.testing.assert_allclose(each["p_holm"].astype(float), holm(each["p"].to_numpy(dtype=float)))
        assert set(each["family"]) == {6}
        assert set(of_metric[of_metric["dataset"] == ALL_DATASETS]["family"]) == {3}
    assert len(table) == 2 * (6 + 3)


def test_over_all_datasets_is_the_plain_mean():
    results = simulated({"softmax": 0.9, "arcface": 0.91}, 3, 5)
    table = compare(results, "softmax")
    overall, each = row(table, dataset=ALL_DATASETS), table[table["dataset"] != ALL_DATASETS]
    assert overall["difference"] == pytest.approx(each["difference"].mean())
    assert overall["half_width"] < each["half_width"].mean()
    missing = results[~((results["dataset"] == "set 1") & (results["loss"] == "arcface"))]
    assert row(compare(missing, "softmax"), dataset=ALL_DATASETS)["difference"] is pd.NA


def test_tied_with_best():
    means = {"best": 0.95, "near": 0.949, "far": 0.7}
    table = tied_with_best(simulated(means, 2, 8), "accuracy")
    for dataset in ("set 0", "set 1", ALL_DATASETS):
        assert row(table, dataset=dataset, loss="far")["tied_with_best"] is np.False_
        assert row(table, dataset=dataset, loss="near")["tied_with_best"] is np.True_
        assert table[table["dataset"] == dataset]["best"].sum() == 1
    lowest = tied_with_best(simulated(means, 1, 8), "accuracy", lower_is_better=True)
    assert row(lowest, loss="far")["best"]
    assert not row(lowest, loss="best")["tied_with_best"]


def test_a_loss_that_a_third_one_beats_is_not_tied_with_the_best():
    noisy = [0.97 + 0.04 * step for step in (-2, 1, 0, 2, -1)]
    steady = [0.96 + 0.0001 * step for step in (1, -2, 0, 2, -1)]
    lower = [0.95 + 0.0001 * step for step in (0, 2, -1, -2, 1)]
    table = tied_with_best(frame(noisy=noisy, steady=steady, lower=lower), "accuracy")
    assert row(table, loss="noisy")["best"]
    assert row(table, loss="lower")["p_holm"] > 0.05  # against the best
    assert row(table, loss="lower")["tied_with_best"] is np.False_
    assert dict(zip(table["loss"], table["worse_than"], strict=True)) == {"noisy": "", "steady": "", "lower": "steady"}


def test_ties_are_unknown_with_too_few_seeds():
    table = tied_with_best(simulated({"a": 0.95, "b": 0.5}, 1, 3), "accuracy")
    assert row(table, loss="b")["tied_with_best"] is pd.NA
    assert "too few" in row(table, loss="b")["note"]
    assert row(table, loss="a")["tied_with_best"]


def test_a_loss_that_always_diverged_is_not_tied():
    results = frame(good=[0.9, 0.8, 0.9, 0.7, 0.9], dead=[np.nan] * 5)
    table = tied_with_best(results, "accuracy")
    assert row(table, loss="dead")["tied_with_best"] is pd.NA
    assert row(table, loss="dead")["left_out"] == 5
    assert row(table, loss="good")["best"]
    nobody = tied_with_best(frame(dead=[np.nan] * 5), "accuracy")
    assert not nobody["best"].any()
    assert nothing_is_nan(nobody)


def test_wrong_frames_are_named():
    results = simulated({"a": 0.9, "b": 0.8}, 1, 5)
    with pytest.raises(ValueError, match="baseline 'arcface'"):
        compare(results, "arcface")
    with pytest.raises(ValueError, match="lack the columns"):
        summarise(results.drop(columns="seed"))
    with pytest.raises(ValueError, match="lack the columns \\['eer'\\]"):
        summarise(results, ["eer"])
    with pytest.raises(ValueError, match="repeated"):
        summarise(pd.concat([results, results[:1]]))
    stored = {("a", "set 0", s): {"accuracy": np.zeros(3 + (s > 2))} for s in range(5)}
    with pytest.raises(ValueError, match="different numbers of identities"):
        summarise(results, jackknife=stored)


def test_an_empty_frame_gives_an_empty_table():
    empty = simulated({"a": 0.9}, 1, 5)[:0]
    assert len(summarise(empty)) == 0
    assert "carries" in summarise(empty).columns


def test_columns_of_objects_with_none_are_read():
    results = frame(a=[0.9, 0.8, 0.7])
    results["accuracy"] = pd.Series([0.9, None, 0.7], dtype=object)
    found = row(summarise(results, ["accuracy"]), loss="a")
    assert (found["n_seeds"], found["left_out"]) == (2, 1)


def test_every_pair_is_what_compare_says_corrected_over_all_pairs() -> None:
    results = simulated({"a": 0.8, "b": 0.82, "c": 0.9}, datasets=2, seeds=6)
    pairs = every_pair(results, "accuracy").set_index(["dataset", "loss", "other"])
    assert len(pairs) == 3 * 3
    for baseline in "abc":
        against = compare(results, baseline, ["accuracy"])
        for found in against.to_dict("records"):
            one, other = sorted([found["loss"], baseline])
            pair = pairs.loc[found["dataset"], one, other]
            sign = 1 if one == found["loss"] else -1
            assert sign * pair["difference"] == pytest.approx(found["difference"])
            assert pair["half_width"] == pytest.approx(found["half_width"])
            assert pair["p"] == pytest.approx(found["p"])
    for dataset in ("set 0", "set 1", ALL_DATASETS):
        part = pairs.loc[dataset]
        assert part["p_holm"].to_list() == pytest.approx(holm(part["p"].to_numpy(dtype=float)).tolist())
        tied = tied_with_best(results, "accuracy").set_index(["dataset", "loss"]).loc[dataset]
        assert tied.loc["a", "tied_with_best"] == (not part.loc[("a", "c"), "significant"])
