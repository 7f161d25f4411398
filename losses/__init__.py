"""Angular-margin losses behind one contract. They need only torch.

>>> import torch, losses
>>> head = losses.create("arcface", num_classes=100, dim=64, s=30.0, m=0.5)  # or losses.ArcFace(100, 64, s=30.0, m=0.5)
>>> embeddings, labels = torch.randn(8, 64, requires_grad=True), torch.arange(8)
>>> head(embeddings, labels).backward()

Defining a loss registers it: a file in this folder adds one. `losses/_head.py` holds the contract, `losses/cosface.py`
is a short example. Every registered loss is also an attribute of this package by the name of its class.
"""

from losses import _registry
from losses._binary import BinaryHead
from losses._cosine import CosineHead, MarginHead, TargetOnlyHead
from losses._errors import InputError
from losses._head import Batch, Head
from losses._hyper import Hyper, Search, choice, integer, number, radians, scale
from losses._registry import DuplicateLossError, broken, create, get, names

__all__ = [
    "Batch",
    "BinaryHead",
    "CosineHead",
    "DuplicateLossError",
    "Head",
    "Hyper",
    "InputError",
    "MarginHead",
    "Search",
    "TargetOnlyHead",
    "broken",
    "choice",
    "create",
    "get",
    "integer",
    "names",
    "number",
    "radians",
    "scale",
]


def __getattr__(name: str) -> type[Head]:
    return _registry.by_class_name(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_registry.class_names()})
