import json
import math
from pathlib import Path

import pytest

from perf._model import MET, MISSED, NO_BAR, NOT_JUDGED, Bar, Measured, Part, at_least, at_most, missed
from perf._report import as_json, as_text, verdict, write_report
from perf._tables import number
from tests.perf.made import parts


def test_a_bar_is_met_at_its_limit() -> None:
    assert at_most(1.3).met(1.3)
    assert not at_most(1.3).met(1.3000001)
    assert at_least(0.92).met(0.92)
    assert not at_least(0.92).met(0.9199999)
    assert not at_most(1.3).met(math.nan)
    assert not at_least(1.3).met(math.nan)
    with pytest.raises(ValueError, match="≤ or ≥"):
        Bar("<", 1.0)


def test_verdicts() -> None:
    assert [one.verdict for one in parts()[0].measured] == [MET, MISSED, NOT_JUDGED, MET, NO_BAR]
    assert missed(parts()) == ["Speed: theirs / ours (C=10) is 0.9 ×, the bar is ≥ 1"]
    assert verdict(parts()) == "2 of 3 bars met, 1 not judged at these sizes."


def test_a_part_that_failed_is_a_miss() -> None:
    failed = Part("x", "X", "", failure="not measured: ImportError: no such package")
    assert missed([failed]) == ["X: not measured: ImportError: no such package"]
    assert "not measured: X" in verdict([failed])


def test_the_report_is_there_in_all_its_forms(tmp_path: Path) -> None:
    page = write_report(parts(), {"cores": 2}, tmp_path)
    content = json.loads((tmp_path / "report.json").read_bytes())
    assert [part["name"] for part in content["parts"]] == ["speed", "growth", "lines"]
    assert content["parts"][0]["measured"][1]["verdict"] == MISSED
    assert content["parts"][1]["curves"][0]["growth"]["exponent"] == pytest.approx(2.0)
    assert content["missed"] == missed(parts())
    text = page.read_text()
    for name in ("bars", "growth", "two"):
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"figures/{name}.png" in text
    assert "missed" in text
    assert "other processes had 25% of the cores" in text.replace("\\", "")
    assert not list(tmp_path.rglob(".aside-*"))


def test_the_terminal_names_every_miss() -> None:
    text = as_text(parts())
    assert "MISSED: Speed: theirs / ours (C=10) is 0.9 ×" in text
    assert "2.00 … 2.00" in text


def test_what_is_no_number_is_null_in_json() -> None:
    odd = Part("x", "X", "", [Measured("a", "b", math.inf, bar=at_most(1.0))])
    found = json.loads(as_json([odd], {}))["parts"][0]["measured"][0]
    assert found["value"] is None
    assert found["verdict"] == MISSED


def test_text_from_elsewhere_stays_text(tmp_path: Path) -> None:
    hostile = Part("x", "X", "", [Measured("<b>|a|", "\x1b[31m", 1.0)])
    text = write_report([hostile], {}, tmp_path).read_text()
    assert "<b>" not in text
    assert "\x1b" not in as_text([hostile])


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.00001, "1.0e-05"), (0.0123, "0.012"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"),
     (12_345.6, "12,346")],
)  # fmt: skip
def test_numbers_are_shown_with_the_digits_that_count(value: float, shown: str) -> None:
    assert number(value) == shown
