"""Saves the state of a run after an epoch, so that a killed run resumes and ends with the same bytes.

One safetensors file has the tensors of backbone, head and optimiser; its metadata has the epoch, the history and which
run it is. It is written atomically with a checksum. A file that is damaged or belongs to another run is not used.
"""

import hashlib
import json
import warnings
from dataclasses import dataclass
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
    epoch: int = 0
    history: list[Row] | None = None

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
        "history": state.history,
        "scaler": state.precision.state(),
        "checksum": _checksum(tensors),
    }
    write_atomically(path, save(tensors, {KEY: json.dumps(about)}))


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
    state.epoch, state.history = about["epoch"], about["history"]
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
