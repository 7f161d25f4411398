"""Against pytorch-metric-learning, where it has the loss and its conventions agree."""

import math

import pytest
import torch
from pytorch_metric_learning import losses as peers

import losses

CLASSES, DIM, BATCH = 12, 9, 40


def compare(head: losses.Head, peer: torch.nn.Module, relative: float = 1e-5) -> None:
    """Value and both gradients in float64, from the same weights (theirs are D×C)."""
    random = torch.Generator().manual_seed(21)
    x = torch.randn(BATCH, DIM, generator=random, dtype=torch.float64)
    y = torch.randint(CLASSES, (BATCH,), generator=random)
    weight = torch.randn(CLASSES, DIM, generator=random, dtype=torch.float64)
    head, peer = head.double(), peer.double()
    with torch.no_grad():
        head.weight.copy_(weight)
        peer.W.copy_(weight.T)  # type: ignore[operator, union-attr]
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    one, two = head(ours, y), peer(theirs, y)
    one.backward()
    two.backward()
    assert one.item() == pytest.approx(two.item(), rel=relative)
    for a, b in ((ours.grad, theirs.grad), (head.weight.grad, peer.W.grad.T)):  # type: ignore[union-attr]
        assert a is not None
        assert b is not None
        assert (a - b).abs().max() <= relative * b.abs().max()


@pytest.mark.parametrize("s", [8.0, 64.0])
def test_arcface(s: float) -> None:
    head = losses.create("arcface", num_classes=CLASSES, dim=DIM, s=s, m=0.5, beyond="linear")
    compare(head, peers.ArcFaceLoss(CLASSES, DIM, margin=math.degrees(0.5), scale=s))


@pytest.mark.parametrize("s", [8.0, 64.0])
def test_cosface(s: float) -> None:
    head = losses.create("cosface", num_classes=CLASSES, dim=DIM, s=s, m=0.35)
    compare(head, peers.CosFaceLoss(CLASSES, DIM, margin=0.35, scale=s))


@pytest.mark.parametrize("s", [8.0, 64.0])
def test_normface(s: float) -> None:
    head = losses.create("normface", num_classes=CLASSES, dim=DIM, s=s)
    compare(head, peers.NormalizedSoftmaxLoss(CLASSES, DIM, temperature=1.0 / s))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_sphereface_without_annealing(m: int) -> None:
    head = losses.create("sphereface", num_classes=CLASSES, dim=DIM, m=m, lambda_0=0.0, lambda_min=0.0)
    compare(head, peers.SphereFaceLoss(CLASSES, DIM, margin=m, scale=1.0), relative=1e-4)
