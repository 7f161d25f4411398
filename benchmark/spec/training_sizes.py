"""How many images a dataset trains on, roughly, without loading it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from datasets._dataset import DATASETS


@dataclass(frozen=True)
class Size:
    classes: int
    per_class: float
    pixels: int

    @property
    def images(self) -> float:
        return self.classes * self.per_class


_OF_WHOLE_CLASSES = {  # classes, training images of each
    "mnist": (10, 6000),
    "fashion_mnist": (10, 6000),
    "kmnist": (10, 6000),
    "cifar10": (10, 5000),
    "cifar100": (100, 500),
}


def training_size(dataset: Mapping[str, Any]) -> Size | None:
    """The size after wrappers; None where it is known only to the data itself."""
    size = _unwrapped(dataset["name"], dataset["options"])
    for wrapper in dataset["wrappers"] if size else ():
        ((name, options),) = wrapper.items()
        size = _wrapped(size, name, options) if size else None
    return size


def _unwrapped(name: str, options: Mapping[str, Any]) -> Size | None:
    if name in ("glyphs", "glyphs_closed"):
        return Size(options["classes"], options["per_class"], options["size"] ** 2)
    if name == "digits":
        return Size(10, 179.7 * (1 - options["test_share"]) * (1 - options["val_share"]), 64)
    if name == "omniglot":
        kept, pixels = 1 - options["val_share"], options["size"] ** 2
        is_open = options["protocol"] == "open"
        return Size(round(964 * kept), 20, pixels) if is_open else Size(1623, 16 * kept, pixels)
    if name in _OF_WHOLE_CLASSES:
        classes, per_class = _OF_WHOLE_CLASSES[name]
        shape = DATASETS.get(name).image_shape
        return Size(classes, per_class * (1 - options["val_share"]), math.prod(shape[1:]) if shape else 1024)
    return None


def _wrapped(size: Size, name: str, options: Mapping[str, Any]) -> Size | None:
    if name == "label_noise":
        return size
    if name == "longtail":
        ratio = options["ratio"]
        share = 1.0 if ratio <= 1 else (1 - 1 / ratio) / math.log(ratio)  # mean of ratio^(−u), u from 0 to 1
        return replace(size, per_class=max(size.per_class * share, options["at_least"]))
    if name == "subset":
        per_class = min(options["per_class"] or size.per_class, size.per_class) * options["share"]
        return replace(size, classes=options["classes"] or size.classes, per_class=per_class)
    return None
