"""Angular-margin losses behind one contract, usable alone: they need torch and nothing else.

    import losses
    head = losses.create("arcface", num_classes=100, dim=64, s=30.0, m=0.5)
    head(embeddings, labels).backward()

A loss is registered by being defined: a file dropped into this folder adds it. `losses/_head.py` holds the
contract, `losses/cosface.py` is the shortest example.
"""

from losses._binary import BinaryHead
from losses._cosine import CosineHead, MarginHead, TargetOnlyHead
from losses._errors import InputError
from losses._head import Batch, Head
from losses._hyper import Hyper, Search, choice, integer, number, scale
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
    "scale",
]
