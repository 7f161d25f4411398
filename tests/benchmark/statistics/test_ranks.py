import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmark.statistics import Ranks, average_ranks, critical_difference


def results(table: dict[str, dict[str, float]]) -> pd.DataFrame:
    rows = [(loss, name, 0, v) for name, row in table.items() for loss, v in row.items()]
    return pd.DataFrame(rows, columns=["loss", "dataset", "seed", "accuracy"])


def ranked(rows: np.ndarray) -> Ranks:
    columns = [f"loss {k}" for k in range(rows.shape[1])]
    return Ranks(pd.DataFrame(stats.rankdata(-rows, axis=1), columns=columns), {})


def test_ranks_with_ties_by_hand():
    found = average_ranks(
        results({"x": {"a": 0.9, "b": 0.8, "c": 0.8}, "y": {"a": 0.5, "b": 0.7, "c": 0.6}}), "accuracy"
    )
    assert found.table.loc["x"].tolist() == [1, 2.5, 2.5]
    assert found.table.loc["y"].tolist() == [3, 1, 2]
    assert found.average.to_dict() == {"b": 1.75, "a": 2.0, "c": 2.25}
    lowest = average_ranks(results({"x": {"a": 0.9, "b": 0.8}}), "accuracy", lower_is_better=True)
    assert lowest.table.loc["x"].tolist() == [2, 1]


def test_diverged_losses_rank_last_and_missing_ones_leave_the_dataset_out():
    found = average_ranks(results({"x": {"a": 0.1, "b": np.nan, "c": np.nan}, "y": {"a": 1.0, "b": 0.5}}), "accuracy")
    assert found.table.loc["x"].tolist() == [1, 2.5, 2.5]
    assert found.left_out == {"y": "not run: c"}


@pytest.mark.parametrize(("losses", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_difference_of_the_published_table(losses, q):
    found = critical_difference(ranked(np.random.default_rng(0).random((30, losses))))
    assert found.difference == pytest.approx(q * np.sqrt(losses * (losses + 1) / 180), abs=1e-3)


def test_demsars_example():
    """Four classifiers on fourteen datasets: the critical difference is 1.25."""
    found = critical_difference(ranked(np.random.default_rng(0).random((14, 4))))
    assert found.difference == pytest.approx(1.25, abs=0.005)


@pytest.mark.parametrize("losses", [2, 3, 5, 11, 24])
def test_too_few_datasets_say_how_many_are_needed(losses):
    needed = critical_difference(ranked(np.random.default_rng(0).random((1, losses)))).datasets_needed
    for datasets in (needed - 1, needed):
        rows = np.tile(np.arange(losses, dtype=float), (datasets, 1))
        found = critical_difference(ranked(rows)) if datasets else None
        if found:
            assert found.can_separate == (datasets == needed) == (found.difference < losses - 1)
            assert bool(found.groups) == found.can_separate
            assert (f"{needed} are needed" in found.note) == (datasets < needed)


def test_groups_are_the_losses_not_told_apart():
    rows = np.tile([4.0, 3.0, 2.0, 1.0], (14, 1))  # critical difference 1.25, ranks 1, 2, 3, 4
    found = critical_difference(ranked(rows))
    assert found.groups == [["loss 0", "loss 1"], ["loss 1", "loss 2"], ["loss 2", "loss 3"]]
    assert found.friedman_p < 1e-6


def test_friedman_is_scipys_and_absent_where_undefined():
    rows = np.random.default_rng(3).random((12, 4))
    found = critical_difference(ranked(rows))
    assert found.friedman_p == pytest.approx(stats.friedmanchisquare(*rows.T).pvalue)
    assert critical_difference(ranked(np.ones((12, 4)))).friedman_p is None
    assert critical_difference(ranked(rows[:, :2])).friedman_p is None
    assert critical_difference(ranked(rows[:, :1])).note == "one loss: nothing to compare"


def test_no_dataset_is_complete():
    found = average_ranks(results({"x": {"a": 0.1}, "y": {"b": 0.5}}), "accuracy")
    assert len(found.table) == 0
    assert critical_difference(found).difference is None


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(2, 8), st.integers(0, 10**6))
def test_ranks_sum_to_a_constant(datasets, losses, seed):
    values = np.random.default_rng(seed).integers(0, 4, (datasets, losses)) / 4
    table = {f"d{i}": {f"l{j}": v for j, v in enumerate(row)} for i, row in enumerate(values)}
    found = average_ranks(results(table), "accuracy")
    np.testing.assert_allclose(found.table.sum(axis=1), losses * (losses + 1) / 2)
    np.testing.assert_allclose(found.table.to_numpy(), stats.rankdata(-values, axis=1))
