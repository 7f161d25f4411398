"""Checks of what a head is given. `loss` is the loss's name, with which every message begins."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from losses._errors import InputError

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def plain(value: Any) -> Any:
    """The Python value of a numpy number, a 0-d array or a 0-d tensor; any other value as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def is_number(value: Any, whole: bool = False) -> bool:
    """Whether a plain value is a number; `True` and `False` are not."""
    return isinstance(value, int if whole else int | float) and not isinstance(value, bool)


def whole(loss: str, what: str, value: Any, least: int) -> int:
    value = plain(value)
    if not is_number(value, whole=True) or value < least:
        raise InputError(f"{loss}: {what}={value!r} is not allowed; expected an integer ≥ {least}")
    return int(value)


def smoothing(loss: str, share: Any, is_cross_entropy: bool) -> float:
    share = plain(share)
    if not is_number(share) or not 0.0 <= share < 1.0:
        raise InputError(f"{loss}: label_smoothing={share!r} is not allowed; expected 0 ≤ share < 1")
    if share and not is_cross_entropy:
        raise InputError(
            f"{loss}: label_smoothing={share!r} is not allowed; the loss is not a cross-entropy, leave it 0"
        )
    return float(share)


def class_counts(loss: str, counts: Sequence[int] | Tensor | None, num_classes: int) -> Tensor | None:
    if counts is None:
        return None
    tensor = torch.as_tensor(counts)
    is_whole = not tensor.is_floating_point() and tensor.dtype != torch.bool
    if tensor.shape != (num_classes,) or not is_whole or bool((tensor < 0).any()):
        raise InputError(
            f"{loss}: class_counts of shape {tuple(tensor.shape)} and {tensor.dtype} are not allowed; "
            f"expected {num_classes} integers ≥ 0"
        )
    return tensor.to(torch.int64)


def check_embeddings(loss: str, embeddings: Tensor, dim: int) -> None:
    if not isinstance(embeddings, Tensor) or not embeddings.is_floating_point():
        came = getattr(embeddings, "dtype", type(embeddings).__name__)
        raise InputError(f"{loss}: embeddings are {came}; expected a tensor of floating-point numbers")
    if embeddings.ndim != 2 or embeddings.shape[1] != dim or len(embeddings) == 0:
        raise InputError(f"{loss}: embeddings have shape {tuple(embeddings.shape)}; expected (B, {dim}) with B ≥ 1")


def class_labels(loss: str, labels: Tensor, size: int, num_classes: int) -> Tensor:
    if not isinstance(labels, Tensor) or labels.dtype not in INTEGERS:
        came = getattr(labels, "dtype", type(labels).__name__)
        raise InputError(f"{loss}: labels are {came}; expected a tensor of integer class numbers")
    if labels.shape != (size,):
        raise InputError(f"{loss}: labels have shape {tuple(labels.shape)}; expected ({size},), one for each embedding")
    low, high = (int(bound) for bound in labels.aminmax())
    if low < 0 or high >= num_classes:
        wrong = low if low < 0 else high
        raise InputError(f"{loss}: label {wrong} is out of range; labels go from 0 to {num_classes - 1}")
    return labels.long()


def check_index(loss: str, index: Tensor | None, size: int, num_samples: int | None) -> None:
    if index is None:
        return
    if not isinstance(index, Tensor) or index.dtype != torch.int64 or index.shape != (size,):
        came = f"{index.dtype} of shape {tuple(index.shape)}" if isinstance(index, Tensor) else repr(index)
        raise InputError(f"{loss}: index is {came}; expected int64 sample numbers of shape ({size},)")
    low, high = (int(bound) for bound in index.aminmax())
    if low < 0 or (num_samples is not None and high >= num_samples):
        top = "" if num_samples is None else f" and below num_samples={num_samples}"
        raise InputError(f"{loss}: index {low if low < 0 else high} is out of range; expected ≥ 0{top}")
