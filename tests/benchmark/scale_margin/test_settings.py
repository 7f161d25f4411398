"""The s and m that rows train with: given, by default, by the class count, or not one number at all."""

import math

import pandas as pd
import pytest

from benchmark.scale_margin import scale_and_margin, scales_of, why_no_scales, with_settings
from benchmark.scale_margin.settings import variant
from tests.benchmark.scale_margin.frames import CLASSES, frame


@pytest.mark.parametrize(
    ("name", "hyper", "classes", "s", "m"),
    [
        ("arcface", "{}", 10, 64.0, 0.5),
        ("arcface", '{"s": 8.0, "m": 0.1}', 10, 8.0, 0.1),
        ("arcface", '{"s": "auto"}', 47, math.log(46) / math.cos(math.pi / 2.3), 0.5),
        ("normface", '{"s": "auto"}', 2, math.log(2) / math.cos(math.pi / 2.3), None),
        ("kappaface", "{}", 10, 64.0, 0.8),
        ("elasticface", "{}", 10, 64.0, 0.5),
        ("elasticface", '{"variant": "cos+"}', 10, 64.0, 0.35),
        ("combined", "{}", 10, 64.0, None),  # three margins
        ("adaacos", "{}", 10, math.log(9) / math.cos(math.pi / 2.3), None),  # adapts its margin
        ("adacos", "{}", 10, None, None),  # adapts its scale
        ("adacos_fixed", "{}", 101, math.sqrt(2) * math.log(100), None),
        ("sphereface", "{}", 10, None, 4.0),
        ("arcgrad", '{"s": "quoted", "gap": 1.0}', 10, 2.6789, None),
        ("softmax", "{}", 10, None, None),
    ],
)
def test_scale_and_margin(name: str, hyper: str, classes: int, s: float | None, m: float | None) -> None:
    found = scale_and_margin(name, hyper, classes)
    assert found == (s if s is None else pytest.approx(s, rel=1e-4), m if m is None else pytest.approx(m))


def test_the_frame_gets_the_scale_of_its_own_dataset() -> None:
    table = frame(lambda *_: 0.9, [("arcface", {"s": "auto"})], seeds=1)
    rows = with_settings(table, CLASSES).set_index("dataset")
    assert rows.loc["closed", "s"] == pytest.approx(math.log(9) / math.cos(math.pi / 2.3))
    assert rows.loc["open", "s"] == pytest.approx(math.log(99) / math.cos(math.pi / 2.3))
    assert rows["m"].tolist() == [0.5, 0.5]


def test_what_else_was_given_tells_rows_of_one_loss_apart() -> None:
    assert variant("arcface", '{"gradient": "detached", "m": 0.3, "s": 8.0}') == "arcface gradient=detached"
    assert variant("arcface", '{"m": 0.3}') == variant("arcface", "{}") == "arcface"


def test_why_there_is_no_map() -> None:
    one_scale = with_settings(frame(lambda *_: 0.9, [("normface", {"s": 8.0}), ("arcface", {"s": 4.0})]), CLASSES)
    assert why_no_scales(one_scale) == "every loss has one scale only on each dataset"
    none = with_settings(frame(lambda *_: 0.9, [("softmax", {}), ("adacos", {})]), CLASSES)
    assert why_no_scales(none) == "no loss with a fixed scale was run"
    two_margins = [("arcface", {"s": 4.0, "m": 0.1}), ("arcface", {"s": 8.0, "m": 0.3})]
    assert why_no_scales(with_settings(frame(lambda *_: 0.9, two_margins), CLASSES)) != ""
    several = with_settings(frame(lambda *_: 0.9), CLASSES)
    assert why_no_scales(several) == ""
    assert isinstance(scales_of(several), pd.DataFrame)
    assert len(scales_of(several)) == len(several)
