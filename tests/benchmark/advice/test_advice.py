"""Advice is what theory and the maps say, names its evidence, and warns where there is none."""

import math
from pathlib import Path

import pytest

import losses
from benchmark.advice.advice import Advice, Case, LossAdvice, advise, best_measured, nearest, warnings
from benchmark.advice.headline import headline
from benchmark.advice.maps_file import find_maps, read_maps
from benchmark.advice.tables import HOW_TO_MEASURE, classes_table, losses_table, remarks, rules_table
from benchmark.tables import as_terminal
from tests.benchmark.advice.made import maps, text, write


def of(advice: Advice, loss: str) -> LossAdvice:
    return next(one for one in advice.losses if one.loss == loss)


def test_what_it_says_at_a_measured_c_is_what_the_file_says(tmp_path: Path) -> None:
    stored = maps(tmp_path)
    for classes in sorted({row.classes for row in stored.rows}):
        for one in advise(Case(classes), stored).losses:
            for measured in one.measured:
                same = [row for row in stored.rows if (row.dataset, row.loss) == (measured.row.dataset, one.loss)]
                assert measured.row in same
                assert measured.row.classes == classes
                usable = [row.validation or 0.0 for row in same if row.mean is not None]
                assert measured.row.validation == max(usable)


def test_the_words_hold_the_figures_of_the_maps_made_here_and_of_the_committed_ones(tmp_path: Path) -> None:
    committed = find_maps()
    assert committed is not None
    for stored in [maps(tmp_path), read_maps(committed)]:
        for classes in sorted({row.classes for row in stored.rows}):
            shown = as_terminal(losses_table(advise(Case(classes), stored)))
            for one in advise(Case(classes), stored).losses:
                for measured in one.measured:
                    assert measured.row in stored.rows
                    assert f"{measured.row.dataset} ({classes:,} classes)" in shown
                    assert f"{100 * (measured.row.mean or 0.0):.2f}" in shown


def test_the_choice_is_validation_s_and_the_figure_the_test_s(tmp_path: Path) -> None:
    normface = of(advise(Case(10), maps(tmp_path)), "normface").measured
    found = [(one.row.dataset, one.row.s, one.row.mean) for one in normface]
    assert found == [("ten", 16.0, 0.89), ("other ten", 4.0, 0.61)]
    arcface = of(advise(Case(10), maps(tmp_path)), "arcface").measured[0]
    assert (arcface.row.s, arcface.row.m) == (8.0, 0.5)
    assert arcface.as_good == (8.0, 16.0)  # .925 lies inside .93 ± .01, .5 does not


def test_a_setting_that_diverged_is_not_advised(tmp_path: Path) -> None:
    assert of(advise(Case(100), maps(tmp_path)), "normface").measured[0].row.s == 16.0
    rows = [row for row in maps(tmp_path).rows if row.setting == "normface s=32"]
    assert best_measured(rows) is None


def test_the_nearest_is_by_ratio(tmp_path: Path) -> None:
    stored = maps(tmp_path)
    assert {row.classes for row in nearest(stored, 31)} == {10}
    assert {row.classes for row in nearest(stored, 32)} == {100}
    assert {row.classes for row in nearest(stored, 10**9)} == {1000}
    assert {row.classes for row in nearest(stored, 2)} == {10}


def test_theory_for_each_kind_of_loss() -> None:
    advice = advise(Case(47, dim=64), None)
    by_rule = {rule.name: scale for rule, scale in of(advice, "arcface").scales}
    assert by_rule["AdaAcos, s=auto"] == pytest.approx(18.818, rel=1e-4)
    assert by_rule["CosFace, P=.9"] == pytest.approx(46 / 47 * math.log(46 * 9))
    arcgrad = {rule.name: scale for rule, scale in of(advice, "arcgrad").scales}
    assert arcgrad == {
        "ArcGrad, quoted": pytest.approx(3.799, rel=1e-3),
        "ArcGrad, maximiser": pytest.approx(3.091, rel=1e-3),
    }
    liarcface = {rule.name: scale for rule, scale in of(advice, "liarcface").scales}
    assert liarcface["ArcGrad, quoted"] == pytest.approx(math.pi / 2 * arcgrad["ArcGrad, quoted"])
    assert of(advice, "circle").scales == ()
    assert of(advice, "cosface").margin.largest == pytest.approx(47 / 46)  # type: ignore[union-attr]
    assert of(advice, "arcface").margin.largest == pytest.approx(math.pi / 2)  # type: ignore[union-attr] # all it takes
    assert "softmax" not in [one.loss for one in advice.losses]


def test_dimensions_matter_for_the_bounds() -> None:
    def largest(dim: int | None) -> float:
        bound = of(advise(Case(100, dim=dim), None), "cosface").margin
        assert bound is not None
        return bound.largest

    assert largest(None) == largest(99) == pytest.approx(100 / 99)
    assert largest(64) == pytest.approx(1.0)
    assert largest(2) == pytest.approx(1 - math.cos(2 * math.pi / 100))
    assert largest(1) == 0.0


def test_two_classes_get_the_rules_that_hold_for_two() -> None:
    advice = advise(Case(2), None)
    assert {rule.name for rule, _ in of(advice, "normface").scales} == {"CosFace, P=.9", "CosFace, P=.99"}
    assert any("at least 3 classes" in warning for warning in advice.warnings)
    assert "–" in as_terminal(rules_table(advice.case))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case(250, dim=64), "The nearest number of classes that was measured is 100, 2.5 times off"),
        (Case(10, dim=512), "Embeddings of 512 dimensions lie outside what was measured with 10 classes, 64."),
        (Case(10, dim=64, images_per_class=500), "500 images per class lie outside what was measured with 10 classes"),
        (Case(900, dim=64, images_per_class=20), "20 images per class lie outside what was measured with 1,000 classe"),
        (Case(10), "Add --dim for yours"),
    ],
)
def test_warnings(tmp_path: Path, case: Case, words: str) -> None:
    assert any(words in warning for warning in advise(case, maps(tmp_path)).warnings)


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        (5, ["Caution: 5 classes lie outside what was measured (10 to 1,000 classes).", "Start with"]),
        (
            10**9,
            ["Caution: 1,000,000,000 classes lie outside what was measured", "Start with cosface (m = 0.35) at s = 32"],
        ),
        (1000, ["Start with cosface (m = 0.35) at s = 32: on thousand (1,000 classes) the"]),
        (90, ["Start with normface at s = 16: on hundred (100 classes, the nearest number that was measured) the"]),
    ],
)
def test_the_advice_begins_with_one_sentence(tmp_path: Path, classes: int, said: list[str]) -> None:
    lines = headline(advise(Case(classes, dim=64), maps(tmp_path)))
    assert len(lines) == len(said)
    assert [line[: len(words)] for line, words in zip(lines, said, strict=True)] == said


def test_it_names_simple_losses_unless_another_one_is_clearly_better(tmp_path: Path) -> None:
    close = [("few", 9, "normface", 4.0, None, 0.80, 0.80), ("few", 9, "normface", 8.0, None, 0.79, 0.795),
             ("few", 9, "arcface", 8.0, 0.3, 0.81, 0.81), ("few", 9, "magface", 8.0, None, 0.82, 0.805)]  # fmt: skip
    stored = read_maps(write(tmp_path, text(close)))
    (said,) = headline(advise(Case(9, dim=64), stored))
    assert said.startswith("Start with normface or arcface (m = 0.3) at s = 8: on few (9 classes) the 95 % interval")
    ahead = [*close[:3], ("few", 9, "magface", 8.0, None, 0.92, 0.905)]
    (said,) = headline(advise(Case(9, dim=64), read_maps(write(tmp_path, text(ahead)))))
    assert said == "Start with magface at s = 8: on few (9 classes) nothing was better on validation data."


def test_without_measurements_it_gives_a_rule_s_scale() -> None:
    assert headline(advise(Case(500), None)) == [
        "Start with normface at an s of about 8.786, which AdaCos's rule gives for 500 classes."
    ]
    assert headline(advise(Case(2), None))[0].startswith(
        "Start with normface at an s of at least 1.099, which CosFace's"
    )


def test_inside_what_was_measured_there_is_no_warning(tmp_path: Path) -> None:
    stored = maps(tmp_path)
    for classes, images in ((10, 20), (100, 20), (150, 20), (1000, 10)):
        assert warnings(Case(classes, dim=64, images_per_class=images), stored, nearest(stored, classes)) == []
    assert advise(Case(1000, dim=64, images_per_class=10), stored).warnings == ()


@pytest.mark.contract
@pytest.mark.parametrize("classes", [2, 10, 1000])
def test_no_margin_is_advised_that_the_loss_refuses(classes: int) -> None:
    for one in advise(Case(classes), None).losses:
        if one.margin is not None:
            loss = losses.get(one.loss)
            loss(max(classes, 3), 4, **{loss.margin_name: one.margin.largest})


def test_best_scales_beyond_which_nothing_was_tried_are_named(tmp_path: Path) -> None:
    found = advise(Case(10, dim=64), maps(tmp_path)).warnings
    assert found == (
        "On ten s=8 is best for arcface. It is the smallest that was tried, and a smaller one may be better.",
    )
    lines = [("few", 9, "normface", s, None, s / 100, s / 100) for s in (4.0, 8.0, 16.0)]
    stored = read_maps(write(tmp_path, text([*lines, ("few", 9, "arcface", 8.0, 0.5, 0.9, 0.9)])))
    found = advise(Case(9, dim=64), stored).warnings
    assert found == (
        "On few s=16 is best for normface. It is the largest that was tried, and a larger one may be better.",
    )


def test_evidence_is_named(tmp_path: Path) -> None:
    lines = remarks(advise(Case(10, dim=64), maps(tmp_path)))
    assert lines[0] == "Measured: experiment made, 2026-01-02, torch 2.13.0."
    assert lines[1].startswith("ten: open, 10 classes of 20 training images, embeddings of 64 dimensions, 3 seeds, ")
    assert remarks(advise(Case(10, dim=64), None)) == [HOW_TO_MEASURE]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"classes": 1}, "--classes 1"),
        ({"classes": 0}, "--classes 0"),
        ({"classes": 10**13}, "--classes 10000000000000"),
        ({"classes": 10, "dim": 0}, "--dim 0"),
        ({"classes": 10, "images_per_class": 0.0}, "--images-per-class 0"),
        ({"classes": 10, "images_per_class": math.nan}, "--images-per-class nan"),
        ({"classes": 10, "gap": 0.0}, "--gap 0"),
        ({"classes": 10, "gap": 4.0}, "--gap 4"),
    ],
)
def test_what_cannot_be_advised_on(given: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        Case(**given)  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_the_table_over_classes(tmp_path: Path) -> None:
    table = classes_table(Case(47), 64, 1.0, maps(tmp_path))
    counts = [row.entries[0].value for row in table.rows]
    assert counts == [10, 47, 100, 300, 1000, 10_000, 100_000, 1_000_000]
    assert table.rows[0].entries[-1].text == "ten: normface 16, arcface 8; other ten: normface 4"
    assert table.rows[3].entries[-1].text == "–"
    assert HOW_TO_MEASURE in classes_table(None, None, 1.0, None).footnotes
