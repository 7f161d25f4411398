"""Saves the state of a run after a step, so that a killed run resumes and ends with the same bytes.

One safetensors file has the tensors of backbone, head and optimiser; its metadata has the epoch, the history and which
run it is. It is written atomically with a checksum. A file that is damaged or belongs to another run is not used.
"""

import hashlib
import json
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from benchmark.errors import InputError
from benchmark.recipe.optimisers import Optimiser
from benchmark.training.history import Row
from benchmark.training.precision import Precision
from datasets._files import write_atomically

KEY = "marginbench"


@dataclass
class RunState:
    """Everything that changes during a run."""

    backbone: nn.Module
    head: nn.Module
    optimiser: Optimiser
    precision: Precision
    epoch: int = 0  # epochs that are finished
    batch: int = 0  # batches of the next one that are finished
    losses: list[float] = field(default_factory=list)  # of these batches
    history: list[Row] = field(default_factory=list)

    def tensors(self) -> dict[str, Tensor]:
        parts = {
            "backbone": self.backbone.state_dict(),
            "head": self.head.state_dict(),
            "optimiser": self.optimiser.state(),
        }
        return {
            f"{part}.{name}": tensor.detach().cpu().contiguous()
            for part, state in parts.items()
            for name, tensor in state.items()
        }

    def load(self, tensors: dict[str, Tensor], scaler: dict[str, Any]) -> None:
        parts: dict[str, dict[str, Tensor]] = {"backbone": {}, "head": {}, "optimiser": {}}
        for name, tensor in tensors.items():
            part, rest = name.split(".", 1)
            parts[part][rest] = tensor
        self.backbone.load_state_dict(parts["backbone"])
        self.head.load_state_dict(parts["head"])
        self.optimiser.load_state(parts["optimiser"])
        self.precision.load_state(scaler)


def save_checkpoint(path: Path, state: RunState, run: dict[str, Any]) -> None:
    """Saves the state. `run` says which run this is; only the same run resumes from it."""
    tensors = state.tensors()
    about = {
        "run": run,
        "epoch": state.epoch,
        "batch": state.batch,
        "losses": state.losses,
        "history": state.history,
        "scaler": state.precision.state(),
        "checksum": _checksum(tensors),
    }
    write_atomically(path, save(tensors, {KEY: json.dumps(about)}))


class Checkpoints:
    """Writes the state now and then: every `seconds`, or less often where writing would take more than a fiftieth of
    the time. 0 seconds: at every chance."""

    def __init__(self, path: Path | None, seconds: float, state: RunState, run: dict[str, Any]) -> None:
        self.path, self.seconds, self.state, self.run = path, seconds, state, run
        self.due = time.monotonic() + seconds

    def offer(self) -> None:
        """A chance to write. If the file cannot be written, training goes on without it."""
        begun = time.monotonic()
        if self.path is None or begun < self.due:
            return
        try:
            save_checkpoint(self.path, self.state, self.run)
        except OSError as problem:
            warnings.warn(f"no checkpoint could be written: {problem}", stacklevel=2)
        ended = time.monotonic()
        self.due = ended + (max(self.seconds, 50 * (ended - begun)) if self.seconds else 0.0)


def load_checkpoint(path: Path, state: RunState, run: dict[str, Any]) -> bool:
    """Loads the state and returns True. If the file cannot be used, warns why, changes nothing and returns False."""
    if not path.exists():
        return False
    try:
        tensors, about = _read(path)
    except (OSError, SafetensorError, ValueError, KeyError) as problem:
        warnings.warn(f"checkpoint {path} is damaged ({problem}); the run starts from the beginning", stacklevel=3)
        return False
    if about["run"] != json.loads(json.dumps(run)):
        warnings.warn(f"checkpoint {path} belongs to another run; this run starts from the beginning", stacklevel=3)
        return False
    state.load(tensors, about["scaler"])
    state.epoch, state.batch = about["epoch"], about["batch"]
    state.losses, state.history = about["losses"], about["history"]
    return True


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    with safe_open(path, framework="pt") as file:
        about: dict[str, Any] = json.loads((file.metadata() or {})[KEY])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is not a dictionary
    if about["checksum"] != _checksum(tensors):
        raise InputError("its checksum is wrong")
    return tensors, about


def _checksum(tensors: dict[str, Tensor]) -> str:
    total = hashlib.sha256()
    for name in sorted(tensors):
        total.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)};".encode())
        total.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()
