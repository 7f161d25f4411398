"""The seeds of all random numbers of a run. They never depend on the loss."""

import hashlib
import json
from dataclasses import dataclass


def derive(purpose: str, **parts: str | int) -> int:
    """A 63-bit integer from named parts, the same on every machine and in every version of Python."""
    text = json.dumps({"purpose": purpose, **parts}, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


@dataclass(frozen=True)
class Seeds:
    """The seeds of one run, from the dataset's digest, the backbone's name and the training seed."""

    dataset: str
    backbone: str
    seed: int

    def of(self, purpose: str, **parts: int) -> int:
        return derive(purpose, dataset=self.dataset, backbone=self.backbone, seed=self.seed, **parts)

    @property
    def backbone_weights(self) -> int:
        return self.of("backbone weights")

    @property
    def head(self) -> int:
        return self.of("head")

    def order(self, epoch: int) -> int:
        return self.of("order", epoch=epoch)

    def augmentation(self, epoch: int, step: int) -> int:
        return self.of("augmentation", epoch=epoch, step=step)
