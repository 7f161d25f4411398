"""The report's tables, from frames made by hand."""

import pandas as pd
import pytest

import losses
from benchmark import metrics
from benchmark.findings.about_losses import about_losses, family, settings
from benchmark.findings.differences import differences, in_short, why_no_differences
from benchmark.findings.main_table import by_metric, main_table, settings_table
from benchmark.metrics import measured
from benchmark.report.tables import limits
from benchmark.statistics import ALL_DATASETS, every_pair, summarise, tied_with_best
from benchmark.tables import BEST, TIED, Table
from tests.benchmark.report.frames import around, findings, frame

VERIFICATION = metrics.column("test/accuracy")

TWO = {
    "digits": {"arcface": around(0.9605), "cosface": around(0.96, turn=1), "normface": around(0.9, turn=2)},
    "letters": {"arcface": around(0.96), "cosface": around(0.9, turn=1), "normface": around(0.8, turn=2)},
}


def texts(table: Table, column: int) -> list[str]:
    return [row.entries[column].text for row in table.rows]


def marks(table: Table, column: int) -> list[str]:
    return [row.entries[column].mark for row in table.rows]


def test_leaderboard_shows_means_intervals_marks_and_ranks() -> None:
    found = findings(TWO, closed=["digits"])
    table = main_table(found, about_losses(found.results))
    assert [column.heading for column in table.columns] == [
        "Loss",
        "digits: classification accuracy, %",
        "letters: verification accuracy, %",
        "Average rank",
        "Family",
    ]
    assert texts(table, 0) == ["arcface", "cosface", "normface"]
    means = summarise(found.results, [VERIFICATION.key]).set_index(["loss", "dataset"])
    half = 100 * means.loc[("arcface", "letters"), "half_width"]
    assert texts(table, 2)[0] == f"96.00 ± {half:.2f}"
    assert table.rows[0].entries[2].value == pytest.approx(96.0)
    assert marks(table, 1) == [BEST, TIED, ""]
    assert marks(table, 2) == [BEST, "", ""]
    assert texts(table, 3) == ["1.0", "2.0", "3.0"]
    assert texts(table, 4) == ["target margin", "target margin", "scale only"]
    shown = settings_table(about_losses(found.results))
    assert texts(shown, 0) == ["arcface", "cosface", "normface"]
    assert texts(shown, 1) == ["s=auto m=0.5", "s=64 m=0.35", "s=64"]


def test_one_metric_has_a_column_for_the_mean_of_all_datasets() -> None:
    found = findings(TWO, closed=["digits"])
    table = by_metric(found, about_losses(found.results), VERIFICATION)
    assert [column.heading for column in table.columns][1:4] == ["digits, %", "letters, %", f"{ALL_DATASETS}, %"]
    assert table.rows[0].entries[3].value == pytest.approx(100 * (0.9605 + 0.96) / 2)
    ties = tied_with_best(found.results, VERIFICATION.key).set_index(["loss", "dataset"])
    for row, mark in zip(table.rows, marks(table, 3), strict=True):
        tied = bool(ties.loc[(row.entries[0].text, ALL_DATASETS), "tied_with_best"])
        assert (mark != "") == tied


def test_where_less_is_better_the_least_is_best() -> None:
    results = frame(TWO)
    results["test/eer"] = 1.0 - results[VERIFICATION.key]
    found = type(findings(TWO))(results, "normface")
    eer = metrics.column("test/eer")
    table = by_metric(found, about_losses(results), eer)
    assert texts(table, 0) == ["arcface", "cosface", "normface"]
    assert marks(table, 1) == [BEST, TIED, ""]
    assert table.caption.endswith("Lower is better.")


def test_diverged_and_missing_cells_are_explained() -> None:
    partly = [*around(0.96)[:3], None, None]
    data = {
        "digits": {"arcface": partly, "cosface": [None] * 5, "normface": around(0.9)},
        "letters": {"arcface": around(0.96), "normface": around(0.8, turn=1)},
    }
    found = findings(data)
    table = main_table(found, about_losses(found.results))
    by_loss = {row.entries[0].text: row.entries for row in table.rows}
    assert by_loss["cosface"][1].text == "diverged"
    assert by_loss["cosface"][1].note == "5 runs of 5 diverged"
    assert by_loss["cosface"][2].text == "–"
    assert by_loss["cosface"][2].note == "not run"
    assert by_loss["arcface"][1].note == "2 of 5 runs diverged; the mean is over the others"
    assert any(note == "The ranks do not include letters (not run: cosface)." for note in table.footnotes)


def test_one_loss_is_not_marked_best() -> None:
    found = findings({"letters": {"normface": around(0.9)}})
    table = main_table(found, about_losses(found.results))
    assert table.legend == (False, False)
    assert why_no_differences(found) == "Only the baseline normface was run, so there are no differences to show."


def test_one_seed_has_no_interval() -> None:
    found = findings({"letters": {"normface": [0.9], "arcface": [0.95]}})
    table = main_table(found, about_losses(found.results))
    assert texts(table, 1) == ["95.00", "90.00"]
    assert table.footnotes[0] == "There is no interval, because it needs two seeds."
    assert marks(table, 1) == [BEST, ""]


def test_differences_are_those_of_the_statistics() -> None:
    found = findings(TWO)
    table = differences(found, about_losses(found.results))
    expected = every_pair(found.results, VERIFICATION.key)
    by_key = expected[expected["other"] == "normface"].set_index(["loss", "dataset"])
    assert len(table.rows) == len(by_key) == 6
    for row in table.rows:
        loss, dataset = row.entries[0].text, row.entries[1].text
        one = by_key.loc[(loss, dataset)]
        assert row.entries[2].value == pytest.approx(100 * one["difference"])
        assert row.entries[2].error == pytest.approx(100 * one["half_width"])
        assert row.entries[3].text == "better"
        assert row.entries[4].value == pytest.approx(one["p_holm"])
    assert texts(table, 2)[0].startswith("+6.05 ± ")
    first, second, third = (sentence.striptags() for sentence in in_short(found))
    assert first == ("On digits, both other losses are significantly better than normface (+6.00 to +6.05 points).")
    assert second.startswith("On letters, ")
    assert third.startswith("Over all datasets, ")


def test_differences_that_are_none_or_cannot_be_tested_say_so() -> None:
    same = findings({"letters": {"arcface": around(0.9), "normface": around(0.9, turn=1)}})
    assert texts(differences(same, about_losses(same.results)), 3) == ["not significant"]
    assert [one.striptags() for one in in_short(same)] == [
        "On letters, arcface does not differ significantly from normface."
    ]
    few = findings({"letters": {"arcface": around(0.95, seeds=3), "normface": around(0.9, seeds=3)}})
    table = differences(few, about_losses(few.results))
    assert texts(table, 3) == ["too few paired seeds: 3, a test needs 5"]
    assert texts(table, 4) == ["–"]
    worse = findings({"letters": {"arcface": around(0.8), "normface": around(0.9, turn=1)}})
    assert texts(differences(worse, about_losses(worse.results)), 3) == ["worse"]


def test_a_baseline_without_a_result_is_named() -> None:
    found = findings({"letters": {"arcface": around(0.9)}}, baseline="normface")
    assert why_no_differences(found) == "The baseline normface has no result yet, so there are no differences to show."


def test_families_follow_from_the_class() -> None:
    expected = {
        "softmax": "softmax",
        "normface": "scale only",
        "adacos": "adaptive scale",
        "adacos_fixed": "scale only",
        "arcface": "target margin",
        "combined": "target margin",
        "adaacos": "adaptive target margin",
        "kappaface": "adaptive target margin",
        "sphereface": "adaptive target margin",
        "arcgrad": "all logits",
        "curricularface": "all logits",
        "circle": "all logits",
        "p2sgrad": "not cross-entropy",
    }
    assert {name: family(losses.get(name)) for name in expected} == expected
    assert {family(losses.get(name)) for name in losses.names()} == set(expected.values())


def test_settings_show_defaults_and_what_was_given() -> None:
    arcface = losses.get("arcface")
    assert settings(arcface, {}) == "s=64 m=0.5"
    assert settings(arcface, {"m": 0.3, "beyond": "clamp"}) == "s=64 m=0.3 beyond=clamp"
    assert settings(losses.get("adacos"), {}) == ""


def test_limits_of_the_geometry() -> None:
    assert "10 training classes cannot all be more than 96.4° from each other" in limits({"digits": 10})[1]
    assert "can reach 100.0°" in limits({"digits": 10})[1]
    assert len(limits({"odd": 1})) == 1


def test_columns_that_no_run_has_or_that_repeat_another_are_left_out() -> None:
    results = frame(TWO, closed=["digits"])
    results["test/ece"] = None
    results["test/classification_accuracy_frequent"] = results["test/classification_accuracy"]
    keys = [column.key for column in measured(results, "performance")]
    assert keys == ["test/classification_accuracy", "test/accuracy"]


def test_the_catalogue_is_sound() -> None:
    keys = [column.key for column in metrics.columns()]
    assert len(keys) == len(set(keys))
    assert len({column.slug for column in metrics.columns()}) == len(keys)
    assert all(column.meaning and column.heading for column in metrics.columns())
    assert all((column.metric.table == "geometry") == (column.unit == "°") for column in metrics.columns())


def test_summarise_over_all_datasets_is_the_plain_mean() -> None:
    means = summarise(frame(TWO), [VERIFICATION.key], overall=True).set_index(["loss", "dataset"])["mean"]
    assert means[("cosface", ALL_DATASETS)] == pytest.approx((0.96 + 0.9) / 2)
    alone = summarise(frame({"letters": TWO["letters"]}), [VERIFICATION.key], overall=True)
    assert set(alone["dataset"]) == {"letters"}
    assert isinstance(alone, pd.DataFrame)


def test_settings_of_a_tuned_loss_are_told_once_where_only_rates_differ() -> None:
    def told(hypers: list[str], rates: list[float]) -> str:
        sets = ["digits", "fashion", "letters"]
        recipes = [f'{{"lr": {rate}}}' for rate in rates]
        rows = {"loss": "x", "name": "normface", "dataset": sets, "hyper": hypers, "recipe": recipes}
        return about_losses(pd.DataFrame(rows | {"tuned": True}))["x"].settings

    four, eight = '{"s": 4.0}', '{"s": 8.0}'
    assert told([eight] * 3, [0.1, 0.03, 0.1]) == "s=8 lr=0.1 (digits, letters), 0.03 (fashion)"
    assert told([eight] * 3, [0.1] * 3) == "s=8 lr=0.1"
    each = "digits: s=8 lr=0.1; fashion: s=4 lr=0.1; letters: s=8 lr=0.1"
    assert told([eight, four, eight], [0.1] * 3) == each
