"""Published beside measured, checked on frames made by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.papers import Paper, compare_with_published
from benchmark.papers.comparison import EQUAL, MIXED, NOT_SIGNIFICANT, OPPOSITE, SAME, UNPUBLISHED, UNTESTED, _verdict
from tests.benchmark.papers.conftest import METRICS, PAPER, runs


def test_means_and_intervals_are_student_s_in_percent(paper: Paper, frame: pd.DataFrame) -> None:
    found = compare_with_published(paper, paper.scales["cpu"], frame).estimates["margin", "on MNIST"]
    values = 100 * frame[(frame["loss"] == "margin") & (frame["dataset"] == "mnist")][METRICS["mnist"]]
    assert found.mean == pytest.approx(values.mean())
    assert found.half_width == pytest.approx(stats.t.ppf(0.975, 4) * values.std(ddof=1) / np.sqrt(5))
    assert (found.seeds, found.diverged) == (5, 0)


def test_only_what_is_of_the_same_data_and_loss_is_subtracted(paper: Paper, frame: pd.DataFrame) -> None:
    comparison = compare_with_published(paper, paper.scales["cpu"], frame)
    on_mnist, on_digits = paper.scales["cpu"].measured
    same = comparison.difference("margin", paper.column("MNIST"), on_mnist)
    assert same is not None
    assert same.mean == pytest.approx(98.0 - 99.1)
    assert same.half_width == comparison.estimates["margin", "on MNIST"].half_width
    assert comparison.difference("plain", paper.column("Faces"), on_digits) is None  # other data
    assert comparison.difference("plain", paper.column("Context"), on_mnist) is None  # another loss
    assert comparison.difference("plain", paper.column("MNIST"), on_digits) is None  # not beside each other
    assert comparison.difference("quoted only", paper.column("MNIST"), on_mnist) is None  # not measured


def test_a_part_of_the_data_is_other_data(load, frame: pd.DataFrame) -> None:
    text = PAPER.replace(
        "datasets: [mnist, digits]",
        "datasets: [{mnist: {}, wrappers: [{subset: {per_class: 9}}], label: mnist}, digits]",
    )
    comparison = compare_with_published(load(text), load(text).scales["cpu"], frame)
    on_mnist = comparison.scale.measured[0]
    assert comparison.difference("margin", comparison.paper.column("MNIST"), on_mnist) is None


def test_effects_compare_directions_each_within_its_own_data(paper: Paper, frame: pd.DataFrame) -> None:
    on_mnist, on_digits = compare_with_published(paper, paper.scales["cpu"], frame).effects
    assert on_mnist.published == {"MNIST": (pytest.approx(1.1), False)}
    assert on_mnist.remark == ""
    assert on_mnist.difference == pytest.approx(1.0)
    wide = frame.pivot_table(index="seed", columns=["dataset", "loss"], values=METRICS["mnist"])["mnist"]
    assert on_mnist.p_holm == pytest.approx(stats.ttest_rel(wide["margin"], wide["plain"]).pvalue, rel=1e-6)
    assert on_mnist.verdict == SAME
    assert on_digits.difference == pytest.approx(0.0, abs=1e-9)
    assert on_digits.verdict == NOT_SIGNIFICANT


COMPARABLE = PAPER.replace("setting:", "comparable: [{sources: [own, quoted], because: one table has both}]\nsetting:")


def test_figures_of_two_sources_are_not_subtracted(paper: Paper, load, frame: pd.DataFrame) -> None:
    """Nobody published such a difference; where the file calls the sources comparable, its reason stands by it."""
    _, on_digits = compare_with_published(paper, paper.scales["cpu"], frame).effects
    assert on_digits.published == {}
    assert on_digits.remark == "Faces: the two published values are of different sources and are not subtracted"
    declared = load(COMPARABLE)
    on_mnist, on_digits = compare_with_published(declared, declared.scales["cpu"], frame).effects
    assert on_digits.published == {"Faces": (pytest.approx(5.0), True)}
    assert on_digits.remark == "one table has both"
    assert on_mnist.remark == ""


def test_a_difference_that_nobody_published_has_no_direction(paper: Paper, load, frame: pd.DataFrame) -> None:
    apart = frame.copy()
    apart.loc[(apart["loss"] == "margin") & (apart["dataset"] == "digits"), METRICS["digits"]] -= 0.1
    assert compare_with_published(paper, paper.scales["cpu"], apart).effects[1].verdict == UNPUBLISHED
    declared = load(COMPARABLE)
    assert compare_with_published(declared, declared.scales["cpu"], apart).effects[1].verdict == OPPOSITE


def test_opposite_directions_are_called_so(paper: Paper, frame: pd.DataFrame) -> None:
    swapped = frame.replace({"loss": {"plain": "margin", "margin": "plain"}})
    assert compare_with_published(paper, paper.scales["cpu"], swapped).effects[0].verdict == OPPOSITE


def test_correction_is_over_the_effects_of_one_figure(paper: Paper, frame: pd.DataFrame) -> None:
    alone = compare_with_published(paper, paper.scales["cpu"], frame).effects[0]
    (effect,) = paper.effects
    both = replace(paper, effects=(effect, replace(effect, row=effect.than, than=effect.row)))
    one, other, *_ = compare_with_published(both, both.scales["cpu"], frame).effects
    assert alone.p_holm is not None
    assert one.p_holm == pytest.approx(2 * alone.p_holm)
    assert other.difference == pytest.approx(-1.0)
    assert other.verdict == SAME


@pytest.mark.parametrize(
    ("published", "difference", "p", "verdict"),
    [
        ([1.0], 2.0, 0.01, SAME),
        ([-1.0], -2.0, 0.01, SAME),
        ([1.0], -2.0, 0.01, OPPOSITE),
        ([1.0, 0.0], 2.0, 0.01, SAME),
        ([1.0, -1.0], 2.0, 0.01, MIXED),
        ([1.0, -1.0, 0.0], 2.0, 0.01, MIXED),
        ([0.0], 2.0, 0.01, EQUAL),
        ([0.0, 98.1 - 98.0 - 0.1], 2.0, 0.01, EQUAL),
        ([0.0], 2.0, 0.2, NOT_SIGNIFICANT),
        ([1.0], -2.0, 0.2, NOT_SIGNIFICANT),
        ([], 2.0, 0.01, UNPUBLISHED),
        ([], 2.0, 0.2, NOT_SIGNIFICANT),
        ([1.0], 2.0, None, UNTESTED),
        ([1.0], None, None, UNTESTED),
    ],
)
def test_verdicts(published: list[float], difference: float | None, p: float | None, verdict: str) -> None:
    assert _verdict(published, difference, p) == verdict


def test_too_few_seeds_are_not_tested(paper: Paper, frame: pd.DataFrame) -> None:
    effect = compare_with_published(paper, paper.scales["cpu"], frame[frame["seed"] < 3]).effects[0]
    assert effect.verdict == UNTESTED
    assert "a test needs 5" in effect.note


def test_diverged_runs_are_counted_and_left_out(paper: Paper, frame: pd.DataFrame) -> None:
    gone = (frame["loss"] == "margin") & (frame["dataset"] == "mnist") & (frame["seed"] > 2)
    frame.loc[gone, METRICS["mnist"]] = np.nan
    found = compare_with_published(paper, paper.scales["cpu"], frame).estimates["margin", "on MNIST"]
    assert (found.seeds, found.diverged) == (3, 2)


def test_nothing_measured_is_nothing_shown(paper: Paper) -> None:
    comparison = compare_with_published(paper, paper.scales["cpu"], pd.DataFrame())
    assert not comparison.estimates
    assert not comparison.effects
    assert not comparison.orders


def six_rows(sources: list[str]) -> tuple[str, dict[tuple[str, str], list[float]]]:
    """A paper of six rows whose published figures rise, and runs that rise as they do."""
    labels = [f"m={k}" for k in range(6)]
    rows = "".join(
        f"  - {{label: {label}, published: [{{source: {sources[k]}, values: {{Faces: {k}}}}}]}}\n"
        for k, label in enumerate(labels)
    )
    entries = ", ".join(f"{{arcface: {{m: 0.{k}}}, label: {label}}}" for k, label in enumerate(labels))
    head, _, rest = PAPER.partition("rows:\n")
    _, _, tail = rest.partition("effects: [[margin, plain]]\n")
    start, _, _ = tail.partition("      losses:\n")
    text = f"{head}rows:\n{rows}{start}      losses: [{entries}]\n  cpu: *scale\n  full: *scale\n"
    values = {(label, "digits"): [0.5 + k / 100 + seed / 1000 for seed in range(5)] for k, label in enumerate(labels)}
    return text, values


def test_the_order_is_compared_from_six_rows_on(load) -> None:
    text, values = six_rows(["own"] * 6)
    made = load(text)
    orders = compare_with_published(made, made.scales["cpu"], runs(values, METRICS)).orders
    faces = next(order for order in orders if order.column.name == "Faces")
    assert faces.agreement.tau == 1.0
    assert (faces.agreement.low, faces.agreement.high, faces.agreement.rows) == (1.0, 1.0, 6)
    some = compare_with_published(made, made.scales["cpu"], runs(dict(list(values.items())[:5]), METRICS)).orders
    assert [order.agreement.tau for order in some] == [None]


def test_the_order_is_of_rows_whose_sources_are_comparable(load) -> None:
    text, values = six_rows(["own", "quoted", *["own"] * 4])
    made = load(text)
    (faces,) = compare_with_published(made, made.scales["cpu"], runs(values, METRICS)).orders
    assert (faces.agreement.tau, faces.agreement.rows) == (None, 5)
    reason = "comparable: [{sources: [own, quoted], because: one table has both}]\nsetting:"
    made = load(text.replace("setting:", reason))
    (faces,) = compare_with_published(made, made.scales["cpu"], runs(values, METRICS)).orders
    assert (faces.agreement.tau, faces.agreement.rows) == (1.0, 6)
