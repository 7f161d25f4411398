import pytest

from perf._timing import in_turns, ratio, spread


def test_runs_take_turns_and_warming_up_does_not_count() -> None:
    calls: list[str] = []
    now = iter(range(100))
    runs = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    times = in_turns(runs, 2, warm_up=1, before_each=lambda: calls.append("."), clock=lambda: float(next(now)))
    assert calls == [".", "a", ".", "b"] * 3
    assert {name: len(found) for name, found in times.items()} == {"a": 2, "b": 2}


def test_a_slow_moment_that_hits_both_sides_leaves_the_ratio_alone() -> None:
    found = ratio({"a": [2.0, 20.0, 2.0], "b": [1.0, 10.0, 1.0]}, "a", "b")
    assert (found.low, found.value, found.high) == (2.0, 2.0, 2.0)


def test_a_spread_is_median_and_quartiles() -> None:
    found = spread([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (found.low, found.value, found.high) == (2.0, 3.0, 4.0)


def test_rounds_of_different_number_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratio({"a": [1.0, 2.0], "b": [1.0]}, "a", "b")
