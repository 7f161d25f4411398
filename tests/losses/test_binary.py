"""Losses without softmax: SphereFace2, UniFace and P2SGrad."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import losses
from losses.sphereface2 import SphereFace2
from losses.uniface import UniFace
from tests.losses.longhand_formulas import sphereface2_bias

CLASSES, DIM = 6, 8


def random_batch(size: int = 20, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed + 600)
    x = torch.randn(size, DIM, generator=random, dtype=torch.float64)
    return x, torch.randint(CLASSES, (size,), generator=random)


@pytest.mark.parametrize("classes", [3, 4, 10, 1000, 100_000])
def test_sphereface2_first_bias_is_the_papers(classes: int) -> None:
    head = SphereFace2(classes, 2)
    chosen = {"lambda_own": 0.7, "r": 40.0, "m": 0.4, "t": 3.0}
    assert head.first_bias() == pytest.approx(sphereface2_bias(classes, chosen), rel=1e-6)
    assert head.bias.item() == pytest.approx(head.first_bias(), rel=1e-6)


@pytest.mark.parametrize("classes", [2, 3, 10, 1000])
@pytest.mark.parametrize("chosen", [
    {}, {"lambda_own": 0.999}, {"lambda_own": 0.01}, {"r": 1000.0}, {"r": 0.1}, {"m": 0.0}, {"m": 2.0}, {"t": 1.0},
])  # fmt: skip
def test_sphereface2_first_bias_makes_the_loss_of_zero_cosines_least(classes: int, chosen: dict[str, Any]) -> None:
    """There the pulls of the own class and of the others on b are equal; also where the formula as printed has the
    logarithm of a difference that rounds to zero, as with two classes."""
    head = SphereFace2(classes, 2, **chosen)
    own, other = (head.r * (2 * 0.5**head.t - 1 + sign * head.m) for sign in (-1.0, 1.0))
    b = torch.tensor(head.first_bias(), dtype=torch.float64)
    up = math.log(head.lambda_own) + F.logsigmoid(-(own + b))
    down = math.log((1 - head.lambda_own) * (classes - 1)) + F.logsigmoid(other + b)
    assert up.item() == pytest.approx(down.item(), abs=1e-9)


def test_sphereface2_evaluates_without_margin_and_scores_by_g() -> None:
    head = SphereFace2(CLASSES, DIM, r=5.0).double()
    x, y = random_batch()
    cosines = F.normalize(x, dim=1) @ F.normalize(head.weight.detach(), dim=1).T
    scores = 5.0 * (2 * ((cosines + 1) / 2) ** 3 - 1) + head.bias.detach()
    assert torch.allclose(head.logits(x), scores)
    own = F.one_hot(y, CLASSES).bool()
    terms = torch.where(own, 0.7 * F.softplus(-scores), 0.3 * F.softplus(scores))
    assert head.eval()(x, y).item() == pytest.approx(50 / 5 * terms.sum(1).mean().item())
    assert head.train()(x, y).item() > head.eval()(x, y).item()


def test_uniface_bias_is_a_threshold_for_the_cosine() -> None:
    head = UniFace(CLASSES, DIM, s=10.0).double()
    assert head.bias.item() == pytest.approx(math.log(10 * CLASSES), rel=1e-6)
    x, y = random_batch()
    cosines = F.normalize(x, dim=1) @ F.normalize(head.weight.detach(), dim=1).T
    assert torch.equal(head.logits(x) > 0, cosines > head.bias.item() / 10.0)
    own = F.one_hot(y, CLASSES).bool()
    scores = 10.0 * cosines - head.bias.detach()
    terms = torch.where(own, F.softplus(-scores), F.softplus(scores))
    assert head.eval()(x, y).item() == pytest.approx(terms.sum(1).mean().item())


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name in losses.names() if issubclass(losses.get(name), losses.BinaryHead)])
def test_the_bias_is_trained_kept_and_stored(name: str) -> None:
    head = losses.create(name, num_classes=CLASSES, dim=DIM).double()
    x, y = random_batch()
    value = head(x, y)
    value.backward()
    bias = dict(head.named_parameters())["bias"]
    assert bias.ndim == 0  # no weight decay
    step = 1e-6
    values = []
    for sign in (1, -1):
        with torch.no_grad():
            bias += sign * step
            values.append(head(x, y).item())
            bias -= sign * step
    assert bias.grad is not None
    assert bias.grad.item() == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-5)
    assert "bias" in head.state_dict()


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name in losses.names() if not losses.get(name).is_cross_entropy])
def test_scores_far_from_zero_stay_finite(name: str) -> None:
    """Cosines of ±1 at the largest scale: softplus of 1e4 and of −1e4."""
    loss = losses.get(name)
    head = loss(loss.min_classes, DIM, **{key: loss.hyper[key].high for key in ("r", "s") if key in loss.hyper})
    x = torch.cat([head.weight.detach(), -head.weight.detach()]).requires_grad_()
    value = head(x, torch.arange(head.num_classes).repeat(2))
    (to_x,) = torch.autograd.grad(value, x)
    assert value.isfinite()
    assert to_x.isfinite().all()


def test_p2sgrad_pulls_each_cosine_by_its_distance_whatever_the_number_of_classes() -> None:
    for classes in (2, 50):
        head = losses.create("p2sgrad", num_classes=classes, dim=60).double()
        with torch.no_grad():
            head.weight.copy_(torch.eye(60)[:classes])
        x = torch.zeros(1, 60, dtype=torch.float64)
        x[0, 0], x[0, -1] = 0.6, 0.8
        x.requires_grad_()
        value = head(x, torch.tensor([0]))
        assert value.item() == pytest.approx(0.5 * 0.4**2)
        (to_x,) = torch.autograd.grad(value, x)
        assert to_x[0, 0].item() == pytest.approx(-0.4 * (1 - 0.36))
        assert to_x[0, -1].item() == pytest.approx(0.4 * 0.6 * 0.8)


@pytest.mark.parametrize(("classes", "dim"), [(40, 8), (300, 64)])
def test_p2sgrad_of_many_classes_in_few_dimensions_prefers_cosines_of_zero(classes: int, dim: int) -> None:
    """The squares of unit vectors' cosines sum to C²/D or more (Welch): the best own cosines cost more than ½."""
    head = losses.create("p2sgrad", num_classes=classes, dim=dim).double()
    labels = torch.arange(classes)
    at_their_weights = head(head.weight.detach(), labels).item()
    assert at_their_weights >= 0.5 * (classes / dim - 1.0)
    with torch.no_grad():
        head.weight[:, -1] = 0.0
    nowhere = torch.eye(dim, dtype=torch.float64)[-1].expand(classes, dim)
    assert head(nowhere, labels).item() == pytest.approx(0.5)
    assert at_their_weights > 0.5
