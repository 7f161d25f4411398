"""Losses that change the other classes' logits too, or every logit: hand-made numbers and what they equal."""

import math
from typing import Any

import pytest
import torch

import losses
from benchmark.audit.checks import loss_and_gradients
from losses.curricularface import CurricularFace
from tests.losses.test_longhand import OWN

CLASSES, DIM = 6, 8


def random_batch(size: int = 20, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed + 300)
    x = torch.randn(size, DIM, generator=random, dtype=torch.float64)
    return x, torch.randint(CLASSES, (size,), generator=random)


def pair(one: tuple[str, dict[str, Any]], two: tuple[str, dict[str, Any]]) -> tuple[losses.Head, losses.Head]:
    heads = [losses.create(name, num_classes=CLASSES, dim=DIM, **settings).double() for name, settings in (one, two)]
    return heads[0], heads[1]


SAME = [
    (("liarcface", {"m": 0.0, "s": 20.0}), ("arcgrad", {"s": 20.0 * 2 / math.pi})),
    (("mvsoftmax", {"t": 1.0, "m": 0.3, "s": 9.0}), ("cosface", {"m": 0.3, "s": 9.0})),
    (("mvsoftmax", {"t": 1.0, "m": 0.3, "s": 9.0, "variant": "arc"}), ("arcface", {"m": 0.3, "s": 9.0})),
    (("spherefacer", {"m": 1.0, "variant": "v1", "s": 9.0}), ("normface", {"s": 9.0})),
    (("spherefacer", {"m": 1.0, "variant": "v2", "s": 9.0}), ("normface", {"s": 9.0})),
    (
        ("spherefacer", {"m": 1.6, "s": 9.0, "gradient": "exact"}),
        ("combined", {"m1": 1.6, "m2": 0.0, "m3": 0.0, "s": 9.0}),
    ),
    (
        ("spherefacer", {"m": 1.6, "s": 9.0}),
        ("combined", {"m1": 1.6, "m2": 0.0, "m3": 0.0, "s": 9.0, "gradient": "detached"}),
    ),
    (("subcenter", {"k": 1, "m": 0.4, "s": 9.0}), ("arcface", {"m": 0.4, "s": 9.0})),
    (("elasticface", {"m": 0.4, "sigma": 0.0, "s": 9.0}), ("arcface", {"m": 0.4, "s": 9.0})),
    (("elasticface", {"m": 0.4, "sigma": 0.0, "s": 9.0, "variant": "cos+"}), ("cosface", {"m": 0.4, "s": 9.0})),
    (("magface", {"l_m": 0.4, "u_m": 0.4, "lambda_g": 0.0, "s": 9.0}), ("arcface", {"m": 0.4, "s": 9.0})),
]


@pytest.mark.parametrize(("one", "two"), SAME, ids=[f"{one[0]}-{two[0]}-{i}" for i, (one, two) in enumerate(SAME)])
def test_what_equals_another_loss(one: tuple[str, dict[str, Any]], two: tuple[str, dict[str, Any]]) -> None:
    head, other = pair(one, two)
    x, y = random_batch()
    for found, expected in zip(loss_and_gradients(head, x, y), loss_and_gradients(other, x, y), strict=True):
        assert torch.allclose(found.view_as(expected), expected, rtol=1e-9, atol=1e-12)
    assert torch.allclose(head.logits(x).softmax(1), other.logits(x).softmax(1), rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "scale"), [("liarcface", 64.0), ("curricularface", 64.0), ("magface", 64.0), ("adaface", 64.0),
    ("elasticface", 64.0), ("subcenter", 64.0), ("mvsoftmax", 32.0), ("circle", 256.0), ("uniface", 64.0),
    ("x2softmax", 64.0), ("spherefacer", 60.0)],
)  # fmt: skip
def test_scales(name: str, scale: float) -> None:
    assert losses.create(name, num_classes=10, dim=4).s == scale


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name in losses.names() if issubclass(losses.get(name), losses.MarginHead)])
def test_every_margin_has_both_gradients(name: str) -> None:
    for gradient in ("exact", "detached"):
        assert losses.create(name, num_classes=5, dim=4, gradient=gradient).gradient == gradient


def test_gradients_by_default() -> None:
    """Detached only where the reference detaches; the others have no such choice."""
    by_default = {
        name: losses.get(name).hyper["gradient"].default for name in OWN if "gradient" in losses.get(name).hyper
    }
    detached = {name for name, gradient in by_default.items() if gradient == "detached"}
    assert detached == {"adaacos", "x2softmax", "spherefacer", "sphereface2"}
    assert {*by_default.values()} == {"exact", "detached"}
    margins = {name for name in OWN if issubclass(losses.get(name), losses.MarginHead)}
    assert set(by_default) == margins | {"sphereface2"}


# hard negatives


def at(*angles: float) -> torch.Tensor:
    """An embedding at these angles from the first unit vectors."""
    x = torch.zeros(1, DIM, dtype=torch.float64)
    cosines = torch.tensor([math.cos(angle) for angle in angles], dtype=torch.float64)
    x[0, : len(angles)], x[0, -1] = cosines, (1.0 - cosines.square().sum()).sqrt()
    return x


def cross_entropy(own: float, others: list[float]) -> float:
    return math.log(math.exp(own) + sum(math.exp(other) for other in others)) - own


def with_unit_weights(name: str, **settings: Any) -> losses.Head:
    head = losses.create(name, num_classes=4, dim=DIM, **settings).double()
    with torch.no_grad():
        head.weight.copy_(torch.eye(DIM)[:4])
    return head


def test_curricularface_on_hand_made_numbers() -> None:
    """cos θ = (.6, .5, −.1, 0), cos(θ_y + .5) = .143: the second class is hard."""
    head = with_unit_weights("curricularface", s=4.0, m=0.5, rate=0.5)
    x = at(math.acos(0.6), math.acos(0.5), math.acos(-0.1), math.pi / 2)
    found = head(x, torch.tensor([0])).item()
    t = 0.5 * 0.6
    own = math.cos(math.acos(0.6) + 0.5)
    assert found == pytest.approx(cross_entropy(4 * own, [4 * 0.5 * (t + 0.5), 4 * -0.1, 0.0]))


def test_mvsoftmax_on_hand_made_numbers() -> None:
    head = with_unit_weights("mvsoftmax", s=4.0, m=0.35, t=1.2)
    x = at(math.acos(0.6), math.acos(0.5), math.acos(-0.1), math.acos(0.24))
    found = head(x, torch.tensor([0])).item()
    assert found == pytest.approx(cross_entropy(4 * 0.25, [4 * (1.2 * 0.5 + 0.2), 4 * -0.1, 4 * 0.24]))


def test_curricularface_t_is_a_running_mean_from_0_that_evaluation_leaves_alone() -> None:
    head = CurricularFace(CLASSES, DIM).double()
    assert float(head.t) == 0.0
    expected = 0.0
    for step, size in enumerate((5, 1, 9)):
        x, y = random_batch(size, seed=step)
        cosines = torch.nn.functional.cosine_similarity(x, head.weight.detach()[y])
        head(x, y)
        expected = 0.01 * cosines.mean().item() + 0.99 * expected
        assert float(head.t) == pytest.approx(expected, rel=1e-9)
    head.eval()(x, y)
    assert float(head.t) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "settings"), [
    ("curricularface", {"beyond": "linear", "rate": 1.0}), ("curricularface", {"beyond": "clamp", "rate": 1.0}),
    ("mvsoftmax", {"variant": "cos"}), ("mvsoftmax", {"variant": "arc"}),
    ("spherefacer", {"variant": "v1"}), ("spherefacer", {"variant": "v2"}),
])  # fmt: skip
def test_the_loss_rises_with_the_targets_angle_among_near_and_far_classes(name: str, settings: dict[str, Any]) -> None:
    """The audit's other classes stand at right angles; here they are at 50°, 100° and 170° from the way of x.
    CurricularFace late in training, t=1: before, a class that becomes hard counts for less, as is its idea."""
    head = with_unit_weights(name, s=8.0, **settings)
    if name == "curricularface":
        head(torch.eye(DIM, dtype=torch.float64)[:1], torch.tensor([0]))
        assert float(head.t) == pytest.approx(1.0)  # type: ignore[arg-type]
    head.update_state = lambda batch: None  # type: ignore[method-assign]
    away = [math.radians(degrees) for degrees in (50, 100, 170)]
    values = []
    for theta in torch.linspace(0.0, math.pi, 400, dtype=torch.float64):
        x = torch.zeros(1, DIM, dtype=torch.float64)
        x[0, 0], x[0, 4] = theta.cos(), theta.sin()
        with torch.no_grad():
            for row, angle in enumerate(away, start=1):  # keeps the others' cosines as they are while θ_y changes
                head.weight[row] = math.cos(angle) * x[0]
                head.weight[row, 5] = math.sin(angle)
            values.append(head(x, torch.tensor([0])).item())
    assert (torch.tensor(values).diff() >= -1e-12).all()


# circle and x2softmax


def test_circle_gradient_is_the_distance_from_where_a_cosine_should_be() -> None:
    head = with_unit_weights("circle", s=4.0, m=0.25)
    cosines = (0.6, 0.5, -0.1, -0.4)
    x = at(*(math.acos(c) for c in cosines)).requires_grad_()
    value = head(x, torch.tensor([0]))
    own = 4 * (1.25 - 0.6) * (0.6 - 0.75)
    others = [4 * max(c + 0.25, 0.0) * (c - 0.25) for c in cosines[1:]]
    assert value.item() == pytest.approx(cross_entropy(own, others))
    (to_x,) = torch.autograd.grad(value, x)
    total = math.exp(own) + sum(math.exp(other) for other in others)
    slopes = [4 * (1.25 - 0.6) * (math.exp(own) / total - 1)]
    slopes += [4 * max(c + 0.25, 0.0) * math.exp(other) / total for c, other in zip(cosines[1:], others, strict=True)]
    towards = torch.zeros(DIM, dtype=torch.float64)
    towards[:4] = torch.tensor(slopes, dtype=torch.float64)
    expected = towards - (towards @ x[0]) * x[0]
    assert torch.allclose(to_x[0], expected.detach(), atol=1e-12)


@pytest.mark.parametrize("m", [0.0, 0.25, 1.0])
def test_circle_target_never_rises(m: float) -> None:
    head = losses.create("circle", num_classes=4, dim=2, m=m)
    theta = torch.linspace(0.0, math.pi, 1001, dtype=torch.float64)
    assert (head.target_value(theta.cos(), None).diff() <= 1e-12).all()  # type: ignore[operator]


def test_circle_evaluates_by_the_scaled_cosine() -> None:
    head = losses.create("circle", num_classes=CLASSES, dim=DIM, s=4.0).double().eval()
    normface = losses.create("normface", num_classes=CLASSES, dim=DIM, s=4.0).double().eval()
    x, y = random_batch()
    assert head(x, y).item() == pytest.approx(normface(x, y).item())
    assert torch.allclose(head.logits(x), normface.logits(x))


@pytest.mark.parametrize("settings", [{}, {"a": -0.01, "h": -1.0, "k": 1.0}, {"a": -10.0, "h": -math.pi}])
def test_x2softmax_target_never_rises(settings: dict[str, float]) -> None:
    head = losses.create("x2softmax", num_classes=4, dim=2, **settings)
    theta = torch.linspace(0.0, math.pi, 1001, dtype=torch.float64)
    curve = head.target_cosine(theta.cos(), None)  # type: ignore[operator]
    assert (curve.diff() <= 1e-12).all()
    a, h, k = (settings.get(key, default) for key, default in (("a", -0.9), ("h", 0.0), ("k", 0.65)))
    assert torch.allclose(curve, a * (theta - h) ** 2 + k)


def test_x2softmax_margin_grows_with_the_angle_between_classes_beyond_90_degrees() -> None:
    """Between two classes the boundary of training is where a(θ−h)²+k = cos(between−θ)."""
    margins = {}
    for degrees in (70, 90, 140, 180):
        between = math.radians(degrees)
        theta = torch.linspace(0.0, between, 100_001, dtype=torch.float64)
        boundary = theta[(-0.9 * theta**2 + 0.65 >= (between - theta).cos()).nonzero().max()]
        margins[degrees] = math.degrees(between - 2 * float(boundary))
    assert margins == pytest.approx({70: 38.7, 90: 36.2, 140: 41.6, 180: 53.4}, abs=0.1)


@pytest.mark.parametrize(("setting", "message"), [
    ({"a": 0.5}, r"a=0.5 is not allowed; a is a number with -10 ≤ value ≤ -0.01"),
    ({"h": 0.1}, r"h=0.1 is not allowed"),
])  # fmt: skip
def test_x2softmax_refuses_what_would_rise(setting: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        losses.create("x2softmax", num_classes=4, dim=2, **setting)
