"""The heads that are compared: one step each, forward and backward."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import losses
from losses import _fused

Step = Callable[[], None]


class Textbook(nn.Module):
    """ArcFace as tutorials write it: normalised copies, acos of a clamped cosine, a one-hot mask, cross-entropy."""

    def __init__(self, num_classes: int, dim: int, s: float = 64.0, m: float = 0.5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(num_classes, dim))
        self.s, self.m = s, m

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        cosine = F.linear(F.normalize(embeddings), F.normalize(self.weight))
        angle = torch.acos(cosine.clamp(-1.0 + 1e-7, 1.0 - 1e-7))
        one_hot = torch.zeros_like(cosine).scatter_(1, labels[:, None], 1.0)
        logits = one_hot * torch.cos(angle + self.m) + (1.0 - one_hot) * cosine
        return F.cross_entropy(self.s * logits, labels)


def arcface(num_classes: int, dim: int) -> nn.Module:
    return losses.create("arcface", num_classes, dim)


def peer(num_classes: int, dim: int) -> nn.Module:
    from pytorch_metric_learning.losses import ArcFaceLoss

    found: nn.Module = ArcFaceLoss(num_classes, dim)
    return found


HEADS: dict[str, Callable[[int, int], nn.Module]] = {
    "arcface": arcface,
    "pytorch-metric-learning": peer,
    "textbook": Textbook,
}


def three_products(embeddings: Tensor, weight: Tensor) -> Step:
    """X·Wᵀ, G·W and Gᵀ·X as one writes them, each into a new tensor."""

    def run() -> None:
        scores = embeddings @ weight.T
        scores @ weight
        scores.T @ embeddings

    return run


def products_in_place(embeddings: Tensor, weight: Tensor) -> Step:
    """The same into existing memory: faster than any training step can be, since that returns new gradients."""
    scores, to_embeddings = torch.empty(len(embeddings), len(weight)), torch.empty_like(embeddings)
    to_weight = torch.empty_like(weight)

    def run() -> None:
        torch.mm(embeddings, weight.T, out=scores)
        torch.mm(scores, weight, out=to_embeddings)
        torch.mm(scores.T, embeddings, out=to_weight)

    return run


def step(head: nn.Module, embeddings: Tensor, labels: Tensor, **extra: Tensor) -> Step:
    leaf = embeddings.clone().requires_grad_()

    def run() -> None:
        head.zero_grad(set_to_none=True)
        leaf.grad = None
        head(leaf, labels, **extra).backward()

    return run


def one_tile(head: nn.Module, embeddings: Tensor, labels: Tensor) -> Step:
    """A step in the memory-bounded mode, which keeps one tile and computes the exponentials twice."""
    bounded = step(head, embeddings, labels)

    def run() -> None:
        keep, _fused.KEEP_BYTES = _fused.KEEP_BYTES, 0
        bounded()
        _fused.KEEP_BYTES = keep

    return run


def inputs(num_classes: int, dim: int, batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """Embeddings, labels and weights."""
    torch.manual_seed(0)
    return torch.randn(batch, dim), torch.randint(num_classes, (batch,)), torch.randn(num_classes, dim)
