"""Processes whose peak memory is compared."""

import subprocess
import sys

import pytest

from perf._process import in_own_process, peak_bytes
from tests.benchmark.engine.runner import PROJECT


@pytest.mark.parametrize("part", ["verification", "geometry"])
def test_they_hold_nothing_of_what_the_report_needs(part: str) -> None:
    """Torch alone is as large as what is measured there."""
    held = "{'torch', 'pandas', 'matplotlib'} & set(sys.modules)"
    ask = f"import sys, perf.{part}, benchmark.metrics; print(sorted({held}))"
    said = subprocess.run([sys.executable, "-c", ask], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_its_peak_is_its_own_and_not_that_of_who_started_it() -> None:
    held = bytearray(400 * 2**20)
    held[:: 2**12] = b"x" * len(held[:: 2**12])
    assert peak_bytes() > len(held)
    assert in_own_process(peak_bytes) < len(held) / 4
