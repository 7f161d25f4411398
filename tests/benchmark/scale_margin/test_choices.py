"""Each loss's best setting: chosen on validation, whatever the test split says."""

from typing import Any

import pytest

from benchmark.scale_margin import chosen_on_validation
from benchmark.scale_margin import with_settings as filled
from tests.benchmark.scale_margin.frames import CLASSES, METRIC_COLUMNS, frame, wobble


def by_scale(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float | None:
    return {4.0: 0.80, 16.0: 0.90, 64.0: 0.70}[hyper["s"]] + 0.01 * hyper.get("m", 0.0) + wobble(name, seed)


def test_the_best_of_each_loss_on_each_dataset() -> None:
    found = chosen_on_validation(filled(frame(by_scale), CLASSES), METRIC_COLUMNS).set_index(["dataset", "name"])
    assert len(found) == 6
    assert found.loc[("open", "arcface"), ["s", "m"]].tolist() == [16.0, 0.3]
    assert found.loc[("open", "normface"), "loss"] == "normface s=16"
    assert found.loc[("closed", "arcface"), "validation"] == pytest.approx(0.902, abs=1e-6)


def test_the_test_split_has_no_say() -> None:
    rows = filled(frame(by_scale), CLASSES)
    expected = chosen_on_validation(rows, METRIC_COLUMNS)
    for column in ("test/accuracy", "test/classification_accuracy"):
        rows[column] = 1.0 - rows[column]
    assert chosen_on_validation(rows, METRIC_COLUMNS).equals(expected)
    rows[["test/accuracy", "test/classification_accuracy"]] = float("nan")
    assert chosen_on_validation(rows, METRIC_COLUMNS).equals(expected)


def test_a_setting_with_a_diverged_run_comes_last() -> None:
    def sick(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float | None:
        lost = hyper["s"] == 16.0 and seed == 0
        return None if lost else by_scale(dataset, name, hyper, seed)

    found = chosen_on_validation(filled(frame(sick), CLASSES), METRIC_COLUMNS)
    assert set(found["s"]) == {4.0}


def test_where_all_diverged_in_part_the_best_of_the_rest_is_taken_and_where_wholly_none() -> None:
    def sick(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float | None:
        return None if seed == 0 or name == "kappaface" else by_scale(dataset, name, hyper, seed)

    found = chosen_on_validation(filled(frame(sick), CLASSES), METRIC_COLUMNS)
    assert set(found["name"]) == {"arcface", "normface"}
    assert set(found["s"]) == {16.0}


def test_of_equal_ones_the_smaller_scale_and_margin() -> None:
    found = chosen_on_validation(filled(frame(lambda *_: 0.9), CLASSES), METRIC_COLUMNS)
    assert set(found["s"]) == {4.0}
    assert set(found.loc[found["name"] == "arcface", "m"]) == {0.1}
