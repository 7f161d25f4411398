"""Processes whose peak memory is compared."""

import subprocess
import sys

import pytest

from tests.benchmark.engine.runner import PROJECT


@pytest.mark.parametrize("part", ["verification", "geometry"])
def test_they_hold_nothing_of_what_the_report_needs(part: str) -> None:
    """Torch alone is as large as what is measured there."""
    held = "{'torch', 'pandas', 'matplotlib'} & set(sys.modules)"
    ask = f"import sys, perf.{part}, benchmark.metrics; print(sorted({held}))"
    said = subprocess.run([sys.executable, "-c", ask], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
