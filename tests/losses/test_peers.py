"""Against pytorch-metric-learning, where it has the loss and its conventions agree."""

import math

import pytest
import torch
from pytorch_metric_learning import losses as peers

import losses
from losses.subcenter import SubCenter

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


@pytest.mark.parametrize("k", [1, 3])
def test_subcenter(k: int) -> None:
    random = torch.Generator().manual_seed(22)
    x = torch.randn(BATCH, DIM, generator=random, dtype=torch.float64)
    y = torch.randint(CLASSES, (BATCH,), generator=random)
    centres = torch.randn(CLASSES, k, DIM, generator=random, dtype=torch.float64)
    head = SubCenter(CLASSES, DIM, s=16.0, m=0.5, k=k).double()
    peer = peers.SubCenterArcFaceLoss(
        num_classes=CLASSES, embedding_size=DIM, margin=math.degrees(0.5), scale=16.0, sub_centers=k
    ).double()
    with torch.no_grad():
        head.centres.copy_(centres)
        peer.W.copy_(centres.flatten(0, 1).T)
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    one, two = head(ours, y), peer(theirs, y)
    one.backward()
    two.backward()
    assert one.item() == pytest.approx(two.item(), rel=1e-5)
    to_centres = peer.W.grad.T.unflatten(0, (CLASSES, k))
    for a, b in ((ours.grad, theirs.grad), (head.centres.grad, to_centres)):
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()  # type: ignore[operator, union-attr]


def test_p2sgrad() -> None:
    """Theirs is the mean over the classes as well and lacks the ½, so ours is C/2 of it; and it normalises the
    weights in place, outside of the gradient, so that of the weights is compared across their direction."""
    random = torch.Generator().manual_seed(23)
    x = torch.randn(BATCH, DIM, generator=random, dtype=torch.float64)
    y = torch.randint(CLASSES, (BATCH,), generator=random)
    head = losses.create("p2sgrad", num_classes=CLASSES, dim=DIM).double()
    peer = peers.P2SGradLoss(DIM, CLASSES).double()
    unit = torch.nn.functional.normalize(head.weight.detach(), dim=1)
    with torch.no_grad():
        head.weight.copy_(unit)
        peer.weight.copy_(unit.T)
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    one, two = head(ours, y), CLASSES / 2 * peer(theirs, y)
    one.backward()
    two.backward()
    assert one.item() == pytest.approx(two.item(), rel=1e-6)
    to_weight = peer.weight.grad.T
    to_weight = to_weight - (to_weight * unit).sum(1, keepdim=True) * unit
    for a, b in ((ours.grad, theirs.grad), (head.weight.grad, to_weight)):
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()  # type: ignore[operator, union-attr]


@pytest.mark.parametrize("s", [8.0, 64.0])
def test_circle(s: float) -> None:
    """Theirs is for pairs; with the class weights as references every sample has one positive, and it is the form
    with class labels."""
    random = torch.Generator().manual_seed(24)
    x = torch.randn(BATCH, DIM, generator=random, dtype=torch.float64)
    y = torch.randint(CLASSES, (BATCH,), generator=random)
    head = losses.create("circle", num_classes=CLASSES, dim=DIM, s=s, m=0.25).double()
    peer = peers.CircleLoss(m=0.25, gamma=s)
    weight = head.weight.detach().clone().requires_grad_()
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    one = head(ours, y)
    two = peer(theirs, y, ref_emb=weight, ref_labels=torch.arange(CLASSES))
    one.backward()
    two.backward()
    assert one.item() == pytest.approx(two.item(), rel=1e-6)
    for a, b in ((ours.grad, theirs.grad), (head.weight.grad, weight.grad)):
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()  # type: ignore[operator, union-attr]
