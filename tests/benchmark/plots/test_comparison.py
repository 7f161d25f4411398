"""Forest plot, heat map and critical-difference diagram: what is drawn is what was computed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from benchmark import metrics
from benchmark.plots import Context, Picture, critical_difference, forest, heatmap
from benchmark.plots._style import BETTER, GREY, WORSE
from benchmark.statistics import average_ranks, compare, tied_with_best
from benchmark.statistics import critical_difference as critical
from tests.benchmark.plots.made import made
from tests.benchmark.plots.seen import faults

VERIFICATION = metrics.column("test/accuracy")


def results(losses: dict[str, float], datasets: int = 2, seeds: int = 6, noise: float = 0.002) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"loss": loss, "dataset": f"d{d}", "seed": seed, "test/accuracy": value + noise * random.standard_normal()}
            for loss, value in losses.items()
            for d in range(datasets)
            for seed in range(seeds)
        ]
    )


FOUR = {"base": 0.90, "good": 0.95, "alike": 0.9003, "bad": 0.80}


def marks(axes: Axes) -> list[tuple[float, float, str, bool]]:
    """x, row, colour and whether it is filled, of every mark in a panel of the forest."""
    points = [line for line in axes.lines if len(line.get_xdata()) == 1]
    return [
        (float(one.get_xdata()[0]), float(one.get_ydata()[0]), one.get_color(), one.get_markerfacecolor() != "white")
        for one in points
    ]


def test_the_forest_shows_differences_intervals_and_verdicts() -> None:
    compared = compare(results(FOUR), "base", ["test/accuracy"])
    figure = forest.figure(compared)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [f"{dataset}\nverification accuracy" for dataset in ("d0", "d1", "all datasets")]
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["good", "alike", "bad"]
    for axes in figure.axes:
        of_panel = compared[compared["dataset"] == axes.get_title().split("\n")[0]].set_index("loss")
        for x, row, colour, filled in marks(axes):
            expected = of_panel.loc[rows[int(row)]]
            assert x == pytest.approx(100 * expected["difference"])
            assert filled == bool(expected["significant"])
            assert colour == {"good": BETTER, "alike": GREY, "bad": WORSE}[rows[int(row)]]
        bars = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2][1:]  # after the line at 0
        expected_bars = 100 * of_panel.loc[rows, ["low", "high"]].to_numpy(dtype=float)
        np.testing.assert_allclose(bars, expected_bars)
        left, right = axes.get_xlim()
        assert left < expected_bars.min()  # no interval is cut without need
        assert right > expected_bars.max()
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    marks_of = ["significantly better", "significantly worse", "not significant"]
    assert words == [*marks_of, "95 % interval", "0: equal to the baseline"]


def test_the_forest_has_the_rows_of_the_difference_table(tmp_path: Path) -> None:
    context = Context(made(tmp_path, seeds=5), "test/accuracy")
    (picture,) = forest.draw(context)
    assert isinstance(picture, Picture)
    table = context.findings.differences
    titles = [axes.get_title().replace("\n", " ") for axes in picture.figure.axes]
    assert titles == [
        "closed set classification accuracy",  # each dataset's main metric, as in the table
        "open set verification accuracy",
        "all datasets verification accuracy",
    ]
    rows = [label.get_text() for label in picture.figure.axes[0].get_yticklabels()]
    for axes in picture.figure.axes:
        dataset = axes.get_title().split("\n")[0]
        expected = table[table["dataset"] == dataset].set_index("loss").loc[rows]
        found = sorted(marks(axes), key=lambda mark: mark[1])
        assert [mark[0] for mark in found] == pytest.approx((100 * expected["difference"].astype(float)).tolist())
        assert [mark[3] for mark in found] == expected["significant"].tolist()


def test_the_forest_s_words_are_the_data_s() -> None:
    compared = compare(results(FOUR), "base", ["test/accuracy"])
    words = forest.finding(compared)
    good, bad = (100 * compared.set_index(["loss", "dataset"])["difference"][loss, "d0"] for loss in ("good", "bad"))
    told = f"2 of 3 losses differ significantly from base (good +{good:.2f} and bad −{-bad:.2f})"
    assert f"On d0, {told}." in words
    assert "Over all datasets, 2 of 3 losses differ significantly from base" in words
    reading = forest.caption(compared)
    assert "Filled marks differ significantly from the baseline after Holm's correction, hollow ones do not." in reading
    assert "Each mark is a loss minus base" in reading


def test_where_lower_is_better_left_is_better() -> None:
    table = results(FOUR).rename(columns={"test/accuracy": "test/eer"})
    figure = forest.figure(compare(table, "base", ["test/eer"]))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["bad", "alike", "good"]
    assert {round(y): colour for _, y, colour, _ in marks(figure.axes[0])} == {0: BETTER, 1: GREY, 2: WORSE}
    assert "left is better" in figure._supxlabel.get_text()


def test_few_seeds_are_crosses_and_missing_values_are_told() -> None:
    table = results(FOUR, seeds=2)
    table.loc[(table["loss"] == "bad") & (table["dataset"] == "d0"), "test/accuracy"] = np.nan
    figure = forest.figure(compare(table, "base", ["test/accuracy"]))
    first = figure.axes[0]
    assert [text.get_text() for text in first.texts] == ["no value"]
    assert {line.get_marker() for line in first.lines if len(line.get_xdata()) == 1} == {"x"}
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["too few seeds to test", "95 % interval", "0: equal to the baseline"]
    assert faults(figure) == []


def test_one_huge_difference_does_not_flatten_the_others() -> None:
    losses = {"base": 0.9, **{f"l{i}": 0.9 + 0.002 * i for i in range(8)}, "broken": 0.1}
    figure = forest.figure(compare(results(losses, 1), "base", ["test/accuracy"]))
    left, right = figure.axes[0].get_xlim()
    assert right - left < 20
    assert [text.get_text()[:3] for text in figure.axes[0].texts] == ["−80"]
    assert faults(figure) == []


def cells(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_the_heat_map_shows_means_and_marks_the_best_and_the_tied() -> None:
    standing = tied_with_best(results(FOUR), "test/accuracy")
    figure = heatmap.figure(standing, VERIFICATION)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["good", "alike", "base", "bad"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["d0", "d1", "all datasets"]
    means = standing.set_index(["loss", "dataset"])["mean"]
    assert cells(axes)[0] == f"{100 * means['good', 'd0']:.2f} ▲"
    assert cells(axes)[-1] == f"{100 * means['bad', 'all datasets']:.2f}"
    behind = axes.collections[0].get_array().reshape(4, 3)
    assert behind[0].tolist() == [0.0, 0.0, 0.0]
    assert behind[3, 1] == pytest.approx(100 * (means["good", "d1"] - means["bad", "d1"]))
    words = heatmap.finding(standing, VERIFICATION)
    assert f"On d0, good has the best verification accuracy ({100 * means['good', 'd0']:.2f}\u00a0%)." in words


def test_the_heat_map_leaves_out_what_has_no_value() -> None:
    table = results({**FOUR, "near": 0.9499}, datasets=1)
    table = pd.concat([table, table.assign(dataset="empty", **{"test/accuracy": np.nan})])
    table.loc[table["loss"] == "alike", "test/accuracy"] = np.nan
    figure = heatmap.figure(tied_with_best(table, "test/accuracy"), VERIFICATION)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["d0"]
    losses = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    shown = dict(zip(losses, cells(figure.axes[0]), strict=True))
    assert shown["alike"] == "–"
    assert shown["near"].endswith(("=", "▲"))
    assert faults(figure) == []


def test_a_metric_that_tables_do_not_show_keeps_its_name() -> None:
    column = metrics.column("test/brier")
    assert (column.heading, column.factor, column.lower_is_better) == ("Brier score", 1.0, True)


def test_the_diagram_has_a_dot_at_every_rank_and_a_bar_for_every_group() -> None:
    losses = {name: 0.9 - 0.02 * i for i, name in enumerate("abcdef")}
    ranks = average_ranks(results(losses, datasets=8, seeds=1, noise=0.012), "test/accuracy")
    found = critical(ranks)
    assert found.can_separate
    axes = critical_difference.figure(ranks, found).axes[0]
    dots = sorted(float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "o")
    assert dots == pytest.approx(sorted(ranks.average))
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 3.5]
    groups = [group for group in found.groups if len(group) > 1]
    ends = [(ranks.average[group[0]], ranks.average[group[-1]]) for group in groups]
    np.testing.assert_allclose(bars, ends, atol=0.05)
    scale = next(line.get_xdata() for line in axes.lines if line.get_marker() == "|")
    assert scale[1] - scale[0] == pytest.approx(found.difference)
    assert faults(axes.figure) == []
    assert f"a {ranks.average['a']:.2f}" in critical_difference.finding(ranks, found)
    assert f"differ by less than {found.difference:.2f}" in critical_difference.caption(ranks, found, VERIFICATION)
