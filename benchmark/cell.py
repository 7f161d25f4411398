"""A cell: one training run, fully described and frozen. An experiment file expands into cells."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from benchmark.recipe import Recipe

PROTOCOL_VERSION = 2
"""Raise it when shared code changes what a cell computes: the losses' and backbones' base classes, batch order,
augmentation, optimisers, schedules. `tests/benchmark/golden` notices such a change. Metrics have their own versions."""


@dataclass(frozen=True)
class Resources:
    """What a cell asks a cluster for. It computes with one thread and, with `--device cuda`, on one GPU at most."""

    cpus: float = 1.0
    gpus: float = 1.0  # the share of a GPU; cells on the CPU ask for none


@dataclass(frozen=True)
class Cell:
    """One dataset, backbone, recipe, loss and seed. What is compared is hashed into its id."""

    dataset: Mapping[str, Any]  # as datasets.resolve gives it, and "seed", the split's
    backbone: str
    dim: int
    recipe: Recipe
    loss: str
    hyper: Mapping[str, Any]  # what differs from the loss's defaults
    seed: int
    label: str = field(default="", compare=False)  # how tables name the loss with its settings; not hashed
    dataset_label: str = field(default="", compare=False)  # how tables name the dataset; not hashed
    access: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Options for datasets.load that leave the data as it is, such as download; not hashed."""
    tuned: bool = field(default=False, compare=False)  # whether the row's settings were tuned; not hashed
    resources: Resources = field(default=Resources(), compare=False)  # not hashed

    @property
    def title(self) -> str:
        """How people are told which cell it is: `digits · convnet/64 · arcface s=16 · seed 0`."""
        names = (self.dataset_label or self.dataset["name"], f"{self.backbone}/{self.dim}", self.label or self.loss)
        return " · ".join([*names, f"seed {self.seed}"])

    def description(self) -> dict[str, Any]:
        """The cell as plain JSON data: what is hashed."""
        plain = {**asdict(self), "recipe": self.recipe.description()}
        return {part.name: plain[part.name] for part in fields(self) if part.compare}

    def id(self, dataset_digest: str, loss_digest: str, backbone_digest: str) -> str:
        """A stable name: the cell, the protocol, and the digests of the data and of the loss's and backbone's code."""
        return cell_id(self.description(), PROTOCOL_VERSION, dataset_digest, loss_digest, backbone_digest)


def cell_id(
    description: Mapping[str, Any], protocol: int, dataset_digest: str, loss_digest: str, backbone_digest: str
) -> str:
    """The id of a described cell, under any protocol."""
    parts = {
        "cell": description,
        "protocol": protocol,
        "dataset_digest": dataset_digest,
        "loss_digest": loss_digest,
        "backbone_digest": backbone_digest,
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
