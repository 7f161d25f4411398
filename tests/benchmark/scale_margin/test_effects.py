"""What a margin adds at the same scale, on frames in which the answer is known."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark import metrics
from benchmark.scale_margin import (
    chosen_on_validation,
    margin_effects,
    margin_effects_over_datasets,
    margin_pairs,
    why_no_margin_effects,
)
from benchmark.scale_margin import with_settings as filled
from benchmark.statistics import ALL_DATASETS
from tests.benchmark.scale_margin.frames import CLASSES, GRID, METRIC_COLUMNS, frame, wobble

VERIFICATION = metrics.column("test/accuracy")

OF_SCALE = {4.0: 0.80, 16.0: 0.90, 64.0: 0.70}
OF_MARGIN = {0.1: 0.0, 0.3: 0.02}


def value(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float | None:
    """Scale does much; arcface's m=.3 adds two points at every scale, and kappaface takes one away."""
    margin = {"normface": 0.0, "arcface": OF_MARGIN[hyper.get("m", 0.1)], "kappaface": -0.01}[name]
    return OF_SCALE[hyper["s"]] + margin + wobble(name, seed)


ROWS = filled(frame(value), CLASSES)


def test_every_row_with_a_margin_meets_normface_at_its_own_scale() -> None:
    pairs = margin_pairs(ROWS)
    assert len(pairs) == 2 * 9
    for loss, baseline, s in zip(pairs["loss"], pairs["baseline"], pairs["s"], strict=True):
        assert baseline == f"normface s={s:g}"
        assert f"s={s:g}" in loss


def test_the_scale_s_own_effect_is_not_in_it() -> None:
    effects = margin_effects(ROWS, METRIC_COLUMNS)
    for (name, m), part in effects.groupby(["name", "m"]):
        expected = {"arcface": OF_MARGIN.get(float(m), 0.0), "kappaface": -0.01}[str(name)]
        assert part["difference"].to_numpy(dtype=float) == pytest.approx(np.full(6, expected), abs=1e-3)
    certain = effects[effects["significant"]]
    assert {(row.name_, row.m) for row in certain.rename(columns={"name": "name_"}).itertuples()} == {
        ("arcface", 0.3),
        ("kappaface", 0.8),
    }
    assert set(effects["family"]) == {18}
    assert set(effects.loc[effects["dataset"] == "closed", "metric"]) == {"test/classification_accuracy"}
    assert set(effects.loc[effects["dataset"] == "open", "metric"]) == {"test/accuracy"}


def test_pairs_are_by_seed() -> None:
    """Seeds that lift both sides alike leave no variance in the difference."""
    rows = filled(frame(lambda data, name, hyper, seed: 0.5 + 0.1 * seed + 0.02 * (name == "arcface")), CLASSES)
    effects = margin_effects(rows, METRIC_COLUMNS)
    of_arcface = effects[effects["name"] == "arcface"]
    assert of_arcface["difference"].to_numpy(dtype=float) == pytest.approx(np.full(12, 0.02))
    assert of_arcface["half_width"].max() < 1e-9


def test_over_datasets_it_is_the_mean_of_both() -> None:
    def unlike(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float:
        return 0.8 + (name == "arcface") * (0.04 if dataset == "closed" else 0.02) + wobble(name, seed)

    rows = filled(frame(unlike), CLASSES)
    found = margin_effects_over_datasets(rows, ["closed", "open"], VERIFICATION.key)
    assert set(found["dataset"]) == {ALL_DATASETS}
    assert found.loc[found["name"] == "arcface", "difference"].to_numpy(dtype=float) == pytest.approx(np.full(6, 0.03))


def test_scales_by_the_class_count_are_other_scales_on_each_dataset() -> None:
    both = [("normface", {"s": "auto"}), ("arcface", {"s": "auto"}), ("arcface", {"s": 7.0})]
    rows = filled(frame(lambda *_: 0.9, both), CLASSES)
    pairs = margin_pairs(rows)
    assert set(zip(pairs["loss"], pairs["baseline"], strict=True)) == {("arcface s=auto", "normface s=auto")}
    assert len(margin_effects_over_datasets(rows, ["closed", "open"], VERIFICATION.key)) == 0


def test_with_too_few_seeds_there_is_an_interval_and_no_test() -> None:
    effects = margin_effects(filled(frame(value, seeds=3), CLASSES), METRIC_COLUMNS)
    assert effects["p"].isna().all()
    assert effects["low"].notna().all()
    assert set(effects["note"]) == {"too few paired seeds: 3, a test needs 5"}


def test_a_setting_that_diverged_has_no_effect_and_says_why() -> None:
    def sick(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float | None:
        return None if name == "arcface" and hyper["s"] == 64.0 else value(dataset, name, hyper, seed)

    effects = margin_effects(filled(frame(sick), CLASSES), METRIC_COLUMNS)
    gone = effects[(effects["name"] == "arcface") & (effects["s"] == 64.0)]
    assert gone["difference"].isna().all()
    assert set(gone["note"]) == {"no seed has a value for both"}


def test_other_kinds_of_scale_are_no_match() -> None:
    """arcgrad scales angles and circle squares: equal numbers there mean nothing."""
    odd = [("normface", {"s": 16.0}), ("arcgrad", {"s": 16.0}), ("circle", {"s": 16.0}), ("liarcface", {"s": 16.0})]
    rows = filled(frame(lambda *_: 0.9, odd), CLASSES)
    assert len(margin_pairs(rows)) == 0
    assert "no loss with a margin was run at a scale that normface was run at" in why_no_margin_effects(rows)


def test_without_normface_there_is_nothing_to_compare_with() -> None:
    rows = filled(frame(value, [one for one in GRID if one[0] != "normface"]), CLASSES)
    assert why_no_margin_effects(rows) == "normface, which has no margin, was not run"
    assert why_no_margin_effects(ROWS) == ""
    assert isinstance(margin_effects(rows, METRIC_COLUMNS), pd.DataFrame)
    assert len(margin_effects(rows, METRIC_COLUMNS)) == 0


def test_tuned_rows_meet_tuned_ones_and_the_others_each_other() -> None:
    """A tuned row beats its own plain one by five points; that is tuning's gain, and not the margin's."""
    plain = frame(value)
    tuned = frame(lambda data, name, hyper, seed: (value(data, name, hyper, seed) or 0.0) + 0.05)
    tuned["loss"] += " (tuned)"
    tuned["tuned"] = True
    rows = filled(pd.concat([plain, tuned], ignore_index=True), CLASSES)
    effects = margin_effects(rows, METRIC_COLUMNS)
    assert len(effects) == 2 * 18
    assert (effects["loss"].str.endswith("(tuned)") == effects["baseline"].str.endswith("(tuned)")).all()
    of_arcface = effects[(effects["name"] == "arcface") & (effects["m"] == 0.3)]
    assert of_arcface["difference"].to_numpy(dtype=float) == pytest.approx(np.full(12, 0.02), abs=1e-3)
    assert set(effects["variant"]) == {"arcface", "arcface (tuned)", "kappaface", "kappaface (tuned)"}
    chosen = chosen_on_validation(rows, METRIC_COLUMNS)
    assert len(chosen) == 2 * 3 * 2
    assert (chosen["loss"].str.endswith("(tuned)") == chosen["tuned"]).all()
    assert set(filled(tuned, CLASSES)["variant"]) == {"normface", "arcface", "kappaface"}
