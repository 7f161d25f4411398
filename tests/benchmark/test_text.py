"""How numbers, counts, times and lists are written."""

from benchmark.tables import with_error, with_p
from benchmark.text import (
    all_of,
    counted,
    duration,
    in_natural_order,
    in_words,
    listed,
    natural_places,
    number,
    p_value,
    power,
    short,
)


def test_numbers_have_a_true_minus_sign_and_no_signed_zero() -> None:
    assert [number(-0.184), number(0.5, 1, signed=True), number(-0.001)] == ["−0.18", "+0.5", "0.00"]
    assert [number(0.001, signed=True), number(-0.004, signed=True)] == ["0.00", "0.00"]
    assert with_error(0.414, 0.2, signed=True).text == "+0.41 ± 0.20"
    assert [short(22.627417), short(0.3), short(64.0)] == ["22.63", "0.3", "64"]
    assert [power(0.01), power(100.0), power(1e6), power(1e-7), power(2e6)] == ["0.01", "100", "10⁶", "10⁻⁷", "2e+06"]


def test_a_p_value_is_never_zero() -> None:
    assert [p_value(p) for p in (0.0, 0.00099, 0.001, 0.0123, 1.0)] == ["< 0.001", "< 0.001", "0.001", "0.012", "1.000"]
    assert with_p(0.0002).text == "< 0.001"
    assert with_p(0.0002).value == 0.0002
    assert [with_p(None).text, with_p(float("nan")).text] == ["–", "–"]


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0, 0.2, 1, 7.54, 9.96, 89, 91)] == [
        "0 s", "< 1 s", "1 s", "7.5 s", "10 s", "89 s", "1.5 min",
    ]  # fmt: skip
    assert [duration(seconds) for seconds in (180, 600, 5399, 5400, 360_000)] == [
        "3 min", "10 min", "90 min", "1.5 h", "100 h",
    ]  # fmt: skip


def test_lists_and_counts() -> None:
    assert [listed([]), listed(["a"]), listed(["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert listed(list("abcdef"), 2) == "a, b and 4 more"
    assert [counted(1, "loss"), counted(2, "loss"), counted(3000, "seed")] == ["1 loss", "2 losses", "3,000 seeds"]
    assert [in_words(0), in_words(12), in_words(13)] == ["no", "twelve", "13"]
    assert [all_of(2, "dataset"), all_of(4, "dataset")] == ["both datasets", "all 4 datasets"]


def test_numbers_inside_names_are_sorted_by_size() -> None:
    names = ["set-1000", "digits", "set-300", "set-1,500", "7", "set-100", "a 0.5", "a 0.25"]
    ordered = ["7", "a 0.25", "a 0.5", "digits", "set-100", "set-300", "set-1000", "set-1,500"]
    assert in_natural_order(names) == ordered
    assert natural_places(["set-1000", "set-300", "set-1000"]) == {"set-300": 0, "set-1000": 1}
