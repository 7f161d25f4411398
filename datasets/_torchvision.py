"""Imports torchvision, even if its compiled operators do not fit the installed torch.

The published wheel does not import beside a CPU-only torch, because two operators are missing; declaring them
is enough for its datasets, models and transforms.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

import torch

_declared: list[torch.library.Library] = []  # a declaration lives as long as its library object


def ensure_torchvision() -> ModuleType:
    """The torchvision module, imported at the first call."""
    try:
        return importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error) or _declared:
            raise
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library: Any = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.append(library)
    return importlib.import_module("torchvision")
