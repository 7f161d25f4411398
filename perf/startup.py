"""From the command to the first training step: a fresh process, imports, the experiment, the data, a worker.

python -m perf.startup [--quick]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from perf._alone import alone
from perf._model import Measured, Part
from perf._process import ROOT
from perf._timing import Times, ratio, spread

TITLE = "From command to first step"
HOW = (
    "Seconds from the start of `python -m benchmark run` on digits until the head is first called, seen by a plug-in "
    "loss that notes the time. Beside it the usual script, which imports torch, torchvision and "
    "pytorch-metric-learning, loads the same digits and calls the loss, and Python importing torch and nothing else."
)
NOTE = "FIRST_STEP_FILE"
PLUGIN = f'''
import os
import time

from losses import TargetOnlyHead, scale


class FirstStep(TargetOnlyHead):
    """ℓ_y = s·cos θ, and the time at which it was first asked for."""

    name = "first_step"
    neutral = ({{}}, "normface")
    s: float = scale(16.0)

    def target_cosine(self, cosine, batch):
        try:
            with open(os.environ["{NOTE}"], "x") as note:
                note.write(repr(time.time()))
        except FileExistsError:
            pass
        return cosine
'''
EXPERIMENT = """
description: One cell, to see when it begins.
baseline: first_step
seeds: 1
datasets: [digits]
recipe: {lr: 0.1, epochs: 1, batch: 64}
dim: 16
losses: [first_step]
"""
USUAL = f"""
import os
import time

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from datasets._torchvision import ensure_torchvision
ensure_torchvision()
from pytorch_metric_learning.losses import ArcFaceLoss
from sklearn.datasets import load_digits

images, labels = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels))
net, head = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16)), ArcFaceLoss(10, 16)
for batch, own in DataLoader(data, 64, shuffle=True):
    embedded = net(batch)
    open(os.environ["{NOTE}"], "w").write(repr(time.time()))
    head(embedded, own)
    break
"""
IMPORT = f"""
import os
import time
import torch
open(os.environ["{NOTE}"], "w").write(repr(time.time()))
"""


def measure(quick: bool) -> Part:
    times: Times = {"benchmark run": [], "usual script": [], "import torch": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "first_step.py").write_text(PLUGIN)
        (folder / "startup.yaml").write_text(EXPERIMENT)
        calls = {
            "benchmark run": ["-m", "benchmark", "run", str(folder / "startup.yaml"), "--no-report", "--workers", "1",
                              "--plugin", str(folder / "first_step.py"), "--results"],
            "usual script": ["-c", USUAL],
            "import torch": ["-c", IMPORT],
        }  # fmt: skip
        for turn in range(1 if quick else 3):
            for what, call in calls.items():
                where = folder / f"{what}-{turn}"
                arguments = [*call, str(where)] if what == "benchmark run" else call
                times[what].append(seconds_until_note(arguments, folder / f"{what}-{turn}.note"))
    part = Part("startup", TITLE, HOW)
    for what, found in times.items():
        one = spread(found)
        part.measured.append(Measured(what, "digits", one.value, "s", one.low, one.high))
    for other in ("usual script", "import torch"):
        one = ratio(times, "benchmark run", other)
        part.measured.append(Measured(f"benchmark run / {other}", "digits", one.value, "×", one.low, one.high))
    return part


def seconds_until_note(arguments: list[str], note: Path) -> float:
    """From the start of Python with these arguments until it wrote the time into a file."""
    environment = {**os.environ, NOTE: str(note)}
    begin = time.time()
    done = subprocess.run([sys.executable, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0 or not note.exists():
        reason = done.stderr.strip().splitlines()[-1:] or ["no error message"]
        raise RuntimeError(f"python {' '.join(arguments[:4])} … ended with code {done.returncode}: {reason[0]}")
    return float(note.read_text()) - begin


if __name__ == "__main__":
    alone(measure)
