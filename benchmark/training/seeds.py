"""The seeds of all random numbers of a run. They never depend on the loss."""

import hashlib
import json
from dataclasses import dataclass

from datasets import Data


def derive(purpose: str, **parts: str | int) -> int:
    """A 63-bit integer from named parts, the same on every machine and in every version of Python."""
    text = json.dumps({"purpose": purpose, **parts}, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


@dataclass(frozen=True)
class Seeds:
    """The seeds of one run, from the training images and labels, the backbone's name and the training seed."""

    dataset: str
    backbone: str
    seed: int

    @classmethod
    def for_run(cls, data: Data, backbone: str, seed: int) -> "Seeds":
        """Test sets do not change the net. Runs without test sets choose settings: they draw other numbers, so that
        no run of the final comparison is one that settings were chosen by."""
        purpose = "" if data.tests else " for choosing settings"
        return cls(data.train_digest + purpose, backbone, seed)

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
