"""An open set made closed: other images of the training classes validate and test, instead of other classes."""

from __future__ import annotations

from dataclasses import replace

from datasets._data import Data
from datasets._options import Real
from datasets._registry import Wrapper
from datasets._splits import closed_split, hold_out, shorten


class Closed(Wrapper):
    name = "closed"
    summary = "an open set's training classes alone: a part of their images validates, another tests"

    test_share = Real(0.2, "share of each class's images to test on", low=0.01, high=0.8)
    val_share = Real(0.1, "share of the rest to validate on", low=0.01, high=0.8)

    def apply(self, data: Data, seed: int) -> Data:
        if data.protocol == "closed":
            raise ValueError(f"closed: {data.name} is closed already; leave the wrapper out")
        few = [name for name, count in zip(data.train.names, data.class_counts.tolist(), strict=True) if count < 3]
        if few:
            raise ValueError(
                "closed: a class needs 3 images, to train, validate and test on; "
                f"{len(few)} of {data.num_classes} have fewer: {shorten(few)}"
            )
        kept, held = hold_out(data.train.labels, self.test_share, data.name, seed, "test")
        made = closed_split(data.name, data.train.take(kept), data.train.take(held), self.val_share, seed)
        return replace(made, notes=data.notes)
