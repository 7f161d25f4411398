"""Real data through the whole of it: Omniglot's evaluation alphabets verified by a net that never saw them."""

import json
import os
from pathlib import Path

import pytest

from tests.benchmark.engine.runner import Runner

OMNIGLOT = """\
description: Omniglot, one short cell.
baseline: normface
seeds: 1
dim: 32
datasets: [omniglot]
recipe: {lr: 0.1, epochs: 2, batch: 128, schedule: onecycle, warmup: 0.3}
losses: [{normface: {s: auto}}]
"""


@pytest.mark.skipif(
    not (Path(os.environ.get("MARGINBENCH_DATA", "nowhere")) / "omniglot").is_dir(),
    reason="MARGINBENCH_DATA names no folder with omniglot in it",
)
def test_open_verification_on_omniglot(tmp_path: Path) -> None:
    runner = Runner(tmp_path, OMNIGLOT)
    environment = {"MARGINBENCH_CACHE": str(tmp_path / "cache")}
    code, output = runner.run("--data", os.environ["MARGINBENCH_DATA"], environment=environment)
    assert code == 0, output
    (run,) = runner.runs()
    metrics = json.loads((run / "metrics.json").read_text())["metrics"]
    assert metrics["test/accuracy"] > 0.75
    assert metrics["test/n_different"] >= 10_000
    assert metrics["test/folds_share_identities"] == 0
    assert 0.0 < metrics["test/eer"] < 0.25
