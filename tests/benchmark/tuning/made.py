"""A tiny experiment to tune, in processes that can be killed, and a file of tuned settings that can be spoilt."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from benchmark import spec
from benchmark.tuning.files import as_yaml

PROJECT = Path(__file__).parents[3]
TINY = """\
description: Three losses on few digits.
baseline: normface
seeds: 2
dim: 8
datasets:
  - digits:
    wrappers: [{subset: {per_class: 20}}]
    label: digits
recipe: {lr: 0.1, epochs: 1, batch: 32}
losses: [softmax, normface, {arcface: {s: 16}}]
hyper: {normface: {s: auto}}
tune: {trials: 3, seeds: 2}
"""


class Tuner:
    """`python -m benchmark tune tiny.yaml` in a folder of its own."""

    def __init__(self, folder: Path, data: Path, text: str = TINY) -> None:
        self.folder, self.data = folder, data
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "tiny.yaml"
        self.file.write_text(text)
        self.results = folder / "results"
        self.tuned = self.results / "tiny" / "tuned.yaml"
        self.trials = self.results / "tiny" / "tuning" / "trials.csv"

    def start(self, command: str, *options: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "benchmark", command, str(self.file)]
        words += ["--results", str(self.results), "--data", str(self.data), "--workers", "2", *options]
        return subprocess.Popen(
            words, cwd=PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip

    def run(self, command: str, *options: str) -> tuple[int, str]:
        process = self.start(command, *options)
        output, _ = process.communicate(timeout=600)
        return process.returncode, output

    def stored(self) -> list[Path]:
        return sorted((self.results / "tiny" / "tuning" / "runs").glob("[0-9a-f]*"))

    def outcome(self) -> dict[str, Any]:
        """What must be equal whatever happened on the way: trials, settings and runs, without date and provenance."""
        settings = yaml.safe_load(self.tuned.read_text())
        settings.pop("made")
        names = ("metrics.json", "history.csv", "embeddings.safetensors", "jackknife.safetensors")
        files = {f"{run.name}/{name}": (run / name).read_bytes() for run in self.stored() for name in names}
        return {
            "trials": self.trials.read_text(),
            "settings": settings,
            "runs": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        }


def content(experiment: spec.Experiment, **choices: dict[str, Any]) -> dict[str, Any]:
    """A sound file of tuned settings: a choice for each row named by a keyword, on every dataset."""
    rows = {row.name: row for row in experiment.losses}
    datasets: dict[str, Any] = {}
    for data in experiment.datasets:
        for name, given in choices.items():
            of = spec.tuned.fingerprint(data, data.backbones[0], data.dims[0], data.recipes[0], rows[name])
            usual = {"hyper": {}, "lr": 0.1, "trial": 0, "validation": 0.9, "before": 0.8, "of": of}
            datasets.setdefault(data.label, {})[rows[name].label] = {**usual, **given}
    made = {"date": "2026-01-01", "marginbench": "0", "python": "3", "torch": "2", "optuna": None, "commit": "12e4567"}
    words = {"sampler": "as it came", "pruning": "none"}
    return {"experiment": "tiny", "made": made, "budget": {"trials": 3, "seeds": 2}, **words, "datasets": datasets}


def write(path: Path, what: dict[str, Any]) -> Path:
    path.write_text(as_yaml(what))
    return path
