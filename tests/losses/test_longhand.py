"""Value and gradients of every loss, on both computing paths, against the longhand formulas."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import losses
from benchmark.audit.checks import blocks
from tests.losses import longhand
from tests.losses.longhand import Longhand
from tests.losses.longhand_formulas import FORMULAS
from tests.losses.test_contract import MISSION

Target = Callable[[int, float], float]


@dataclass(frozen=True)
class Case:
    """How the longhand formula of a target-only loss reads for given settings, frozen at the batch's state."""

    target: Callable[[Longhand, dict[str, Any]], Target]
    settings: dict[str, st.SearchStrategy[Any]] = field(default_factory=dict)
    scale: Callable[[Longhand, dict[str, Any]], float] = lambda batch, chosen: chosen["s"]


SCALE = {"s": st.floats(0.5, 64.0)}
GRADIENT = {"gradient": st.sampled_from(["exact", "detached"])}
BEYOND = {"beyond": st.sampled_from(["linear", "clamp", "none"])}


def adaacos_target(batch: Longhand, chosen: dict[str, Any]) -> Target:
    m = longhand.adaacos_margin(batch)
    return lambda i, theta: math.cos(min(theta + m, math.pi))


CASES = {
    "normface": Case(lambda batch, chosen: lambda i, theta: math.cos(theta), SCALE),
    "adacos_fixed": Case(
        lambda batch, chosen: lambda i, theta: math.cos(theta),
        scale=lambda batch, chosen: math.sqrt(2) * math.log(batch.theta.shape[1] - 1),
    ),
    "adacos": Case(
        lambda batch, chosen: lambda i, theta: math.cos(theta),
        scale=lambda batch, chosen: longhand.adacos_scale(batch, math.sqrt(2) * math.log(batch.theta.shape[1] - 1)),
    ),
    "cosface": Case(
        lambda batch, chosen: lambda i, theta: math.cos(theta) - chosen["m"],
        {**SCALE, **GRADIENT, "m": st.floats(0.0, 1.0)},
    ),
    "arcface": Case(
        lambda batch, chosen: lambda i, theta: longhand.margin_cosine(theta, chosen["m"], chosen["beyond"]),
        {**SCALE, **GRADIENT, **BEYOND, "m": st.floats(0.0, 1.5)},
    ),
    "combined": Case(
        lambda batch, chosen: (
            lambda i, theta: (
                longhand.margin_cosine(theta, chosen["m2"], chosen["beyond"], factor=chosen["m1"]) - chosen["m3"]
            )
        ),
        {**SCALE, **GRADIENT, **BEYOND, "m1": st.floats(0.5, 2.0), "m2": st.floats(0, 1), "m3": st.floats(0, 1)},
    ),
    "sphereface": Case(
        lambda batch, chosen: (
            lambda i, theta: (
                (chosen["lambda_0"] * math.cos(theta) + longhand.psi(theta, chosen["m"])) / (1 + chosen["lambda_0"])
            )
        ),
        {**GRADIENT, "m": st.integers(1, 5), "lambda_0": st.floats(0.0, 20.0)},
    ),
    "adaacos": Case(adaacos_target, {**SCALE, **GRADIENT}),
    "kappaface": Case(
        lambda batch, chosen: lambda i, theta: longhand.margin_cosine(theta, chosen["m0"], chosen["beyond"]),
        {**SCALE, **GRADIENT, **BEYOND, "m0": st.floats(0.0, 1.5)},
    ),
}
OTHER_LOGITS = {"softmax", "arcgrad"}
OWN = sorted({*CASES, *OTHER_LOGITS, *FORMULAS})
"""The repository's own losses: those with a longhand formula."""


def test_the_repository_s_own_losses_have_their_longhand_formula() -> None:
    """Those that the mission and the formulas name are the repository's own: each exists and each has its formula. A
    newcomer's loss has none at first; adding one makes it the repository's own."""
    assert set(MISSION) == set(CASES) | OTHER_LOGITS
    assert {losses.get(name).__module__ for name in OWN} == {f"losses.{name}" for name in OWN}
    assert len(OWN) == len(CASES) + len(OTHER_LOGITS) + len(FORMULAS) == 24


@st.composite
def batches(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    size, classes, dim = draw(st.integers(1, 5)), draw(st.integers(3, 6)), draw(st.integers(2, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = random.normal(size=(size, dim)) * draw(st.sampled_from([0.01, 1.0, 30.0]))
    weight = random.normal(size=(classes, dim)) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    labels = random.integers(classes, size=size)
    if draw(st.booleans()):  # as after training
        x = x * 0.3 + np.linalg.norm(x, axis=1, keepdims=True) * weight[labels] / np.linalg.norm(weight[labels])
    return x, weight, labels


def make(name: str, weight: np.ndarray, fused: bool, dtype: torch.dtype, chosen: dict[str, Any]) -> losses.Head:
    extra = {"lambda_min": 0.0} if name == "sphereface" else {}
    head = losses.create(name, num_classes=len(weight), dim=weight.shape[1], **chosen, **extra).to(dtype)
    with torch.no_grad():
        head.weight.copy_(torch.from_numpy(weight))
    if isinstance(head, losses.CosineHead):
        head.fused = fused
    return head


def run(
    head: losses.Head, x: np.ndarray, labels: np.ndarray, dtype: torch.dtype
) -> tuple[float, np.ndarray, np.ndarray]:
    leaf = torch.from_numpy(x).to(dtype).requires_grad_()
    loss = head(leaf, torch.from_numpy(labels), index=torch.arange(len(labels)))
    loss.backward()
    assert leaf.grad is not None
    assert head.weight.grad is not None
    return loss.item(), leaf.grad.double().numpy(), head.weight.grad.double().numpy()


def close(found: np.ndarray, expected: np.ndarray, relative: float, absolute: float) -> None:
    assert np.abs(found - expected).max() <= relative * np.abs(expected).max() + absolute


@pytest.mark.parametrize("name", sorted(CASES))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_value_and_gradients(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    x, weight, labels = data.draw(batches())
    chosen = {key: data.draw(strategy, label=key) for key, strategy in case.settings.items()}
    here = Longhand(x, weight, labels)
    target, scale = case.target(here, chosen), case.scale(here, chosen) if name != "sphereface" else 0.0
    constant = longhand.offsets(here, target) if chosen.get("gradient", "exact") == "detached" else None

    def value(at_x: np.ndarray, at_weight: np.ndarray) -> float:
        there = Longhand(at_x, at_weight, labels)
        factors = np.linalg.norm(at_x, axis=1) if name == "sphereface" else np.full(len(at_x), scale)
        return longhand.target_only(there, lambda i: factors[i], target, constant)

    expected = value(x, weight)
    smooth = smooth_near(name, here, chosen)
    for fused in (True, False):
        width, keep_bytes = data.draw(st.integers(1, 7), label="tile"), data.draw(st.sampled_from([0, 2**30]))
        with blocks(width, keep_bytes):
            found, to_x, to_weight = run(make(name, weight, fused, torch.float64, chosen), x, labels, torch.float64)
        assert found == pytest.approx(expected, rel=1e-7 if name == "adacos" else 1e-9, abs=1e-9)  # s_0 is fp32
        if smooth:
            step = 1e-6 * np.abs(x).max()
            close(to_x, longhand.numeric_gradient(lambda at: value(at, weight), x, step), 1e-5, 1e-6 / np.abs(x).max())
            step = 1e-6 * np.abs(weight).max()
            close(to_weight, longhand.numeric_gradient(lambda at: value(x, at), weight, step), 1e-5, 1e-6)


def smooth_near(name: str, batch: Longhand, chosen: dict[str, Any]) -> bool:
    """Whether no sample lies so near a corner of its margin that central differences step over it."""
    corners = [0.0, math.pi]
    if name in ("arcface", "kappaface"):
        corners.append(math.pi - chosen.get(losses.get(name).margin_name, 0.0))
    if name == "combined":
        corners.append((math.pi - chosen["m2"]) / chosen["m1"])
    if name == "adaacos":
        corners.append(math.pi - longhand.adaacos_margin(batch))
    if name == "sphereface":
        corners += [k * math.pi / chosen["m"] for k in range(chosen["m"])]
    own = [batch.own(i) for i in range(len(batch.labels))]
    return all(abs(theta - corner) > 1e-3 for theta in own for corner in corners)


@settings(max_examples=25, deadline=None)
@given(batches(), st.floats(0.5, 64.0))
def test_arcgrad(batch: tuple[np.ndarray, np.ndarray, np.ndarray], s: float) -> None:
    x, weight, labels = batch
    head = make("arcgrad", weight, False, torch.float64, {"s": s})
    found, to_x, to_weight = run(head, x, labels, torch.float64)

    def value(at_x: np.ndarray, at_weight: np.ndarray) -> float:
        return longhand.cross_entropy(-s * longhand.angles(at_x, at_weight), labels)

    assert found == pytest.approx(value(x, weight), rel=1e-9, abs=1e-9)
    if np.abs(np.sin(longhand.angles(x, weight))).min() > 1e-3:
        step = 1e-6 * np.abs(x).max()
        close(to_x, longhand.numeric_gradient(lambda at: value(at, weight), x, step), 1e-5, 1e-6 / np.abs(x).max())
        step = 1e-6 * np.abs(weight).max()
        close(to_weight, longhand.numeric_gradient(lambda at: value(x, at), weight, step), 1e-5, 1e-6)


@settings(max_examples=25, deadline=None)
@given(batches())
def test_softmax(batch: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, weight, labels = batch
    head = make("softmax", weight, False, torch.float64, {})
    bias = np.linspace(-1, 1, len(weight))
    with torch.no_grad():
        head.bias.copy_(torch.from_numpy(bias))  # type: ignore[union-attr]
    found, to_x, to_weight = run(head, x, labels, torch.float64)
    logits = np.array([[float(row @ column) + b for column, b in zip(weight, bias, strict=True)] for row in x])
    assert found == pytest.approx(longhand.cross_entropy(logits, labels), rel=1e-9, abs=1e-9)
    posterior = np.exp(logits - logits.max(1, keepdims=True))
    posterior /= posterior.sum(1, keepdims=True)
    posterior[np.arange(len(x)), labels] -= 1.0
    np.testing.assert_allclose(to_x, posterior @ weight / len(x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(to_weight, posterior.T @ x / len(x), rtol=1e-9, atol=1e-12)


EXTREMES = [0.0, 1e-8, 1e-4, 0.1, math.pi / 2, math.pi - 0.1, math.pi - 1e-4, math.pi]


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("theta", EXTREMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_at_the_ends_of_the_angle(name: str, theta: float, dtype: torch.dtype) -> None:
    """Targets from θ=0 to θ=π: the value follows the formula and the gradients are finite and bounded."""
    weight = np.eye(6)[:4]
    x = np.zeros((2, 6))
    x[:, 0], x[:, 5], labels = math.cos(theta), math.sin(theta), np.array([0, 0])
    chosen = {"s": 16.0} if "s" in losses.get(name).hyper else {}
    defaults = {key: hyper.default for key, hyper in losses.get(name).hyper.items()} | chosen
    here = Longhand(x.astype(np.float32).astype(float) if dtype == torch.float32 else x, weight, labels)
    case = CASES[name]
    target, scale = case.target(here, defaults), 1.0 if name == "sphereface" else case.scale(here, defaults)
    expected = longhand.target_only(here, lambda i: scale, target, None)
    for fused in (True, False):
        head = make(name, weight, fused, dtype, chosen)
        found, to_x, to_weight = run(head, x, labels, dtype)
        # near θ=0 and θ=π a cosine in fp32, as the plain path has it, tells angles apart by 3.5e-4 and no better
        coarse = dtype == torch.float32 and not fused and math.sin(theta) < 1e-3
        assert found == pytest.approx(expected, rel=1e-5, abs=16.0 * 3.5e-4 if coarse else 1e-5)
        bound = 3.0 * 16.0 * 4.0
        assert np.isfinite(to_x).all()
        assert np.isfinite(to_weight).all()
        assert max(np.abs(to_x).max(), np.abs(to_weight).max()) <= bound
