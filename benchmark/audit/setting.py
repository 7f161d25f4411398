"""The small heads and batches that the checks look at."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from losses import CosineHead, Head, _fused, _tiles

CLASSES, DIM, BATCH = 7, 16, 12


def make(loss: type[Head], dtype: torch.dtype = torch.float32, num_classes: int = CLASSES, **settings: Any) -> Head:
    """A head of the loss with defaults, knowing the sizes that some losses ask for."""
    counts = [3 + label for label in range(num_classes)]
    head = loss(num_classes, DIM, num_samples=BATCH, total_steps=100, class_counts=counts, **settings)
    return head.to(dtype)


def batch(dtype: torch.dtype = torch.float32, num_classes: int = CLASSES, seed: int = 1) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    embeddings = 2.0 * torch.randn(BATCH, DIM, generator=random, dtype=torch.float64)
    return embeddings.to(dtype), torch.randint(num_classes, (BATCH,), generator=random)


def trained_batch(weight: Tensor, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Embeddings as after training: target cosines from .5 to .99, lengths from .5 to 8."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(len(weight), (size,), generator=random)
    own = F.normalize(weight.detach()[labels].double(), dim=1)
    away = torch.randn(own.shape, generator=random, dtype=torch.float64)
    away = F.normalize(away - (away * own).sum(1, keepdim=True) * own, dim=1)
    cosine = 0.5 + 0.49 * torch.rand(size, 1, generator=random, dtype=torch.float64)
    length = 0.5 + 7.5 * torch.rand(size, 1, generator=random, dtype=torch.float64)
    return (length * (cosine * own + (1.0 - cosine**2).sqrt() * away)).to(weight.dtype), labels


def loss_and_gradients(head: Head, embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Loss, gradient of the embeddings and gradient of the weights."""
    leaf, weight = embeddings.detach().clone().requires_grad_(), trained_weight(head)
    weight.grad = None
    loss = head(leaf, labels, index=torch.arange(len(labels)))
    loss.backward()
    return loss.detach(), gradient_of(leaf), gradient_of(weight)


def trained_weight(head: Head) -> nn.Parameter:
    """The parameter behind `head.weight`: itself, or the centres (C×K×D) that a sub-centre loss chooses it from."""
    if isinstance(head.weight, nn.Parameter):
        return head.weight
    sizes = head.num_classes, head.dim
    return next(one for one in head.parameters() if one.ndim > 1 and (one.shape[0], one.shape[-1]) == sizes)


@torch.no_grad()
def set_weight(head: Head, rows: Tensor) -> None:
    """Gives the head these class weights (C×D), and each centre of a class the same where it has several."""
    weight = trained_weight(head)
    weight.copy_(rows.view(len(rows), *[1] * (weight.ndim - 2), rows.shape[1]))


def gradient_of(leaf: Tensor) -> Tensor:
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def paths(head: Head) -> Iterator[Head]:
    """The head on each of its computing paths: fused and plain where it has both."""
    if not isinstance(head, CosineHead) or not head.fusable:
        yield head
        return
    for fused in (True, False):
        head.fused = fused
        yield head


def freeze(head: Head) -> Head:
    """The head with its adaptive state as it is."""
    head.update_state = lambda batch: None  # type: ignore[method-assign]
    return head


@contextmanager
def blocks(width: int, keep_bytes: int) -> Iterator[None]:
    """The fused path in tiles of the given width, keeping exponentials up to the given size."""
    before = _tiles.NARROWEST, _tiles.WIDEST, _fused.KEEP_BYTES
    _tiles.NARROWEST, _tiles.WIDEST, _fused.KEEP_BYTES = width, width, keep_bytes
    try:
        yield
    finally:
        _tiles.NARROWEST, _tiles.WIDEST, _fused.KEEP_BYTES = before
