"""Rows that differ in the gradient alone, and what detaching does."""

from typing import Any

import numpy as np
import pytest

from benchmark import metrics
from benchmark.scale_margin import gradient_effects, gradient_effects_over_datasets, gradient_pairs
from tests.benchmark.scale_margin.frames import METRIC_COLUMNS, frame, wobble

VERIFICATION = metrics.column("test/accuracy")

BOTH = [
    ("normface", {"s": 8.0}),
    ("arcface", {"s": 8.0, "gradient": "exact"}),
    ("arcface", {"s": 8.0, "gradient": "detached"}),
    ("arcface", {"s": 4.0, "gradient": "detached"}),  # has no exact twin
    ("cosface", {"gradient": "exact"}),
    ("cosface", {"gradient": "detached"}),
    ("adaacos", {}),  # detached by default
    ("adaacos", {"gradient": "exact"}),
]


def value(dataset: str, name: str, hyper: dict[str, Any], seed: int) -> float:
    """Detaching helps arcface by two points, does nothing to cosface and hurts adaacos by one."""
    gradient = hyper.get("gradient", "detached" if name == "adaacos" else "exact")
    effect = {"arcface": 0.02, "adaacos": -0.01}.get(name, 0.0) * (gradient == "detached")
    noise = 0.0 if name == "cosface" else wobble(name + gradient, seed)
    return 0.9 + effect + noise


def test_pairs_are_found_by_their_settings_defaults_among_them() -> None:
    pairs = gradient_pairs(frame(value, BOTH))
    assert len(pairs) == 2 * 3
    assert set(pairs["title"]) == {"arcface s=8", "cosface", "adaacos"}
    of_adaacos = pairs[pairs["title"] == "adaacos"].iloc[0]
    assert (of_adaacos["detached"], of_adaacos["exact"]) == ("adaacos", "adaacos gradient=exact")


def test_detached_minus_exact_with_its_verdict() -> None:
    effects = gradient_effects(frame(value, BOTH, seeds=8), METRIC_COLUMNS)
    by_loss = dict(iter(effects.groupby("title")))
    assert by_loss["arcface s=8"]["difference"].to_numpy(dtype=float) == pytest.approx(np.full(2, 0.02), abs=2e-3)
    assert by_loss["arcface s=8"]["significant"].all()
    assert by_loss["adaacos"]["difference"].to_numpy(dtype=float) == pytest.approx(np.full(2, -0.01), abs=2e-3)
    assert set(by_loss["cosface"]["note"]) == {"equal in every seed"}
    assert not by_loss["cosface"]["significant"].any()
    assert set(effects["family"]) == {6}


def test_over_datasets() -> None:
    found = gradient_effects_over_datasets(frame(value, BOTH), ["closed", "open"], VERIFICATION.key)
    assert dict(zip(found["title"], found["difference"].round(3), strict=True)) == {
        "adaacos": pytest.approx(-0.01, abs=2e-3),
        "arcface s=8": pytest.approx(0.02, abs=2e-3),
        "cosface": 0.0,
    }


def test_without_pairs_there_is_nothing() -> None:
    table = frame(value, [("normface", {"s": 8.0}), ("arcface", {"s": 8.0}), ("arcface", {"s": 4.0})])
    assert len(gradient_pairs(table)) == 0
    assert len(gradient_effects(table, METRIC_COLUMNS)) == 0
    assert len(gradient_effects_over_datasets(table, ["closed", "open"], VERIFICATION.key)) == 0
