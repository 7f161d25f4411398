"""That everything in perf/ runs and that the report has all its parts. Nothing here looks at a time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from perf.__main__ import PARTS
from perf._process import ROOT


@pytest.mark.slow
def test_the_whole_report_at_small_sizes(tmp_path: Path) -> None:
    call = [sys.executable, "-m", "perf", "--quick", "--results", str(tmp_path)]
    done = subprocess.run(call, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads((tmp_path / "perf" / "report.json").read_bytes())
    assert [part["name"] for part in content["parts"]] == list(PARTS)
    found = {part["name"]: part for part in content["parts"]}
    assert all(part["failure"] == "" for part in found.values())
    barred = [one for part in found.values() for one in part["measured"] if one["bar"]]
    assert {one["verdict"] for one in barred} <= {"not judged", "met"}
    assert all(one["value"] is not None for part in found.values() for one in part["measured"])
    grown = {curve["size"] for curve in found["growth"]["curves"] if curve["growth"]}
    assert grown == {"cells", "classes", "embeddings", "stored runs"}
    assert {one["what"] for one in found["startup"]["measured"]} >= {"benchmark run", "usual script"}
    pictures = {path.name for path in (tmp_path / "perf" / "figures").iterdir()}
    assert pictures == {"bars.png", "growth.png", "loss-head-memory.png", "loss-head-time.png"}
    assert "report:" in done.stdout
