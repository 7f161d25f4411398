"""Value and both gradients of the losses in `longhand_formulas`, on every path, against those formulas."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import losses
from benchmark.audit.checks import blocks, trained_weight
from tests.losses.longhand import Longhand, numeric_gradient
from tests.losses.longhand_formulas import FORMULAS, Centred, corner
from tests.losses.test_longhand import BEYOND, EXTREMES, GRADIENT, SCALE, batches, close

ARC = {**SCALE, **GRADIENT, **BEYOND, "m": st.floats(0.0, 1.5)}
CHOICES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "adaface": {**SCALE, **GRADIENT, "m": st.floats(0.0, 1.0), "h": st.floats(0.0, 3.0)},
    "circle": {**SCALE, "m": st.floats(0.0, 1.0)},
    "curricularface": {**ARC, "rate": st.floats(0.0, 1.0)},
    "elasticface": {
        **ARC, "sigma": st.sampled_from([0.0, 0.05, 1.0]), "variant": st.sampled_from(["arc", "arc+", "cos", "cos+"])
    },
    "liarcface": {**SCALE, "m": st.floats(0.0, 1.5)},
    "magface": {
        **SCALE, **GRADIENT, **BEYOND, "l_m": st.floats(0.0, 0.5), "u_m": st.floats(0.5, 1.5),
        "lambda_g": st.sampled_from([0.0, 1.0, 35.0]), "l_a": st.just(10.0), "u_a": st.just(110.0),
    },
    "mvsoftmax": {**ARC, "t": st.floats(1.0, 2.0), "variant": st.sampled_from(["cos", "arc"])},
    "p2sgrad": {},
    "sphereface2": {
        **GRADIENT, "lambda_own": st.floats(0.1, 0.9), "r": st.floats(0.5, 20.0), "m": st.floats(0.0, 0.5),
        "t": st.floats(1.0, 5.0), "factor": st.floats(0.5, 50.0),
    },
    "spherefacer": {**SCALE, **GRADIENT, "m": st.floats(1.0, 3.0), "variant": st.sampled_from(["v1", "v2"])},
    "subcenter": {**ARC, "k": st.integers(1, 3)},
    "uniface": {**SCALE, "m": st.floats(0.0, 1.0), "lambda_others": st.floats(0.1, 3.0)},
    "x2softmax": {
        **SCALE, **GRADIENT, "a": st.floats(-2.0, -0.1), "h": st.floats(-1.0, 0.0), "k": st.floats(-1.0, 1.0)
    },
}  # fmt: skip

FUSABLE = {"adaface", "elasticface", "magface", "spherefacer", "x2softmax"}


def test_which_have_a_fused_path() -> None:
    heads = {name: losses.create(name, num_classes=3, dim=2) for name in FORMULAS}
    assert {name for name, head in heads.items() if getattr(head, "fusable", False)} == FUSABLE
    assert not losses.create("spherefacer", num_classes=3, dim=2, variant="v2").fusable


def longhand_batch(name: str, x: np.ndarray, weight: np.ndarray, labels: np.ndarray) -> Longhand:
    return (Centred if name == "subcenter" else Longhand)(x, weight, labels)


def several_centres(weight: np.ndarray, k: int, seed: int) -> np.ndarray:
    size = np.abs(weight).max()
    return weight[:, None] + size * np.random.default_rng(seed).normal(size=(len(weight), k, weight.shape[1]))


def run(
    name: str, x: np.ndarray, weight: np.ndarray, labels: np.ndarray, dtype: torch.dtype, fused: bool, **chosen: Any
) -> tuple[float, np.ndarray, np.ndarray]:
    head = losses.create(name, num_classes=len(weight), dim=x.shape[1], **chosen).to(dtype)
    head.fused = fused  # type: ignore[assignment]
    behind = trained_weight(head)
    with torch.no_grad():
        behind.copy_(torch.from_numpy(weight))
    leaf = torch.from_numpy(x).to(dtype).requires_grad_()
    loss = head(leaf, torch.from_numpy(labels))
    loss.backward()
    assert leaf.grad is not None
    assert behind.grad is not None
    return loss.item(), leaf.grad.double().numpy(), behind.grad.double().numpy()


@pytest.mark.parametrize("name", sorted(FORMULAS))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_value_and_gradients(name: str, data: st.DataObject) -> None:
    formula = FORMULAS[name]
    x, weight, labels = data.draw(batches())
    chosen = {key: data.draw(strategy, label=key) for key, strategy in CHOICES[name].items()}
    if name == "subcenter":
        weight = several_centres(weight, chosen["k"], seed=len(x))
    here = longhand_batch(name, x, weight, labels)

    def value(at_x: np.ndarray, at_weight: np.ndarray) -> float:
        return formula(longhand_batch(name, at_x, at_weight, labels), here, chosen)

    expected, smooth = formula(here, here, chosen), corner(name, here, chosen) > 1e-3
    for fused in (True, False):
        with blocks(data.draw(st.integers(1, 7), label="tile"), data.draw(st.sampled_from([0, 2**30]))):
            found, to_x, to_weight = run(name, x, weight, labels, torch.float64, fused, **chosen)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if smooth:
            step = 1e-6 * np.abs(x).max()
            close(to_x, numeric_gradient(lambda at: value(at, weight), x, step), 1e-5, 1e-6 / np.abs(x).max())
            step = 1e-6 * np.abs(weight).max()
            close(to_weight, numeric_gradient(lambda at: value(x, at), weight, step), 1e-5, 1e-6)


@pytest.mark.parametrize("name", sorted(FORMULAS))
@pytest.mark.parametrize("theta", EXTREMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_at_the_ends_of_the_angle(name: str, theta: float, dtype: torch.dtype) -> None:
    """Targets from θ=0 to θ=π: the value follows the formula and the gradients are finite and bounded."""
    weight, labels = np.eye(6)[:4], np.array([0, 0])
    x = np.zeros((2, 6))
    x[:, 0], x[:, 5] = math.cos(theta), math.sin(theta)
    chosen: dict[str, Any] = {"s": 16.0} if "s" in losses.get(name).hyper else {}
    if name == "subcenter":
        weight = np.repeat(weight[:, None], 3, axis=1)
    if name == "elasticface":
        chosen |= {"m": 0.5, "sigma": 0.05}
    defaults = {key: hyper.default for key, hyper in losses.get(name).hyper.items()} | chosen
    here = longhand_batch(name, x.astype(np.float32).astype(float) if dtype == torch.float32 else x, weight, labels)
    expected = FORMULAS[name](here, here, defaults)
    for fused in (True, False):
        found, to_x, to_weight = run(name, x, weight, labels, dtype, fused, **chosen)
        # near θ=0 and θ=π a cosine in fp32, as the plain path has it, tells angles apart by 3.5e-4 and no better
        coarse = dtype == torch.float32 and not (fused and name in FUSABLE) and math.sin(theta) < 1e-3
        steepest = 2.0 * 0.9 * math.pi if name == "x2softmax" else 1.0  # of the target, by the angle
        assert found == pytest.approx(expected, rel=1e-5, abs=16.0 * steepest * 3.5e-4 if coarse else 1e-5)
        assert np.isfinite(to_x).all()
        assert np.isfinite(to_weight).all()
        assert max(np.abs(to_x).max(), np.abs(to_weight).max()) <= 3.0 * 16.0 * 4.0
