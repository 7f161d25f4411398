"""Target logits and gradients against their formulas written longhand."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import losses
from benchmark.plots import loss_shapes
from benchmark.plots._style import looks
from losses import _registry
from tests.benchmark.plots.seen import faults

THETA = loss_shapes.ANGLES
LENGTH = 7.0
FORMULAS: dict[str, tuple[dict[str, Any], Callable[[np.ndarray], np.ndarray]]] = {
    "normface": ({"s": 12.0}, lambda theta: 12 * np.cos(theta)),
    "cosface": ({"s": 12.0, "m": 0.3}, lambda theta: 12 * (np.cos(theta) - 0.3)),
    "arcface": ({"s": 12.0, "m": 0.3, "beyond": "none"}, lambda theta: 12 * np.cos(theta + 0.3)),
    "softmax": ({}, lambda theta: LENGTH * np.cos(theta)),
    "arcgrad": ({"s": 5.0}, lambda theta: 5 * (np.pi / 2 - theta)),
    "adacos_fixed": ({}, lambda theta: math.sqrt(2) * math.log(9) * np.cos(theta)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_target_logit_and_gradient_are_the_formula_s(name: str) -> None:
    settings, formula = FORMULAS[name]
    found = loss_shapes.measure(losses.create(name, num_classes=10, dim=16, **settings), LENGTH)
    logit = formula(THETA)
    assert found.logit is not None
    np.testing.assert_allclose(found.logit, logit, atol=1e-4)
    step = 1e-6
    slope = (formula(THETA + step) - formula(THETA - step)) / (2 * step)
    wrong = 9 / (9 + np.exp(logit))  # the posterior of all nine others, whose logits are 0
    np.testing.assert_allclose(found.pull, -wrong * slope, atol=1e-4)


def test_a_loss_too_small_to_tell_its_logit_leaves_a_gap() -> None:
    found = loss_shapes.measure(losses.create("softmax", num_classes=10, dim=4), length=80.0)
    assert found.logit is not None
    assert np.isnan(found.logit[:5]).all()
    np.testing.assert_allclose(found.logit[30:], 80 * np.cos(THETA[30:]), atol=1e-3)


@pytest.fixture
def newcomer() -> Iterator[str]:
    class Bent(losses.TargetOnlyHead):
        """ℓ_y = s·(cos θ − m·(1 − cos θ)²)."""

        name = "bent_for_plots"
        s: float = losses.scale(8.0)
        m: float = losses.number(0.2, low=0.0, high=0.5, meaning="bend")

        def target_cosine(self, cosine: Tensor, batch: losses.Batch) -> Tensor:
            return cosine - self.m * (1.0 - cosine) ** 2

    yield Bent.name
    del _registry._losses[Bent.name]


def test_a_newcomer_is_drawn_for_nothing(newcomer: str) -> None:
    found = loss_shapes.measure(losses.create(newcomer, num_classes=5, dim=8))
    cosine = np.cos(THETA)
    assert found.logit is not None
    np.testing.assert_allclose(found.logit, 8 * (cosine - 0.2 * (1 - cosine) ** 2), atol=1e-9)


def test_every_loss_there_is_can_be_drawn() -> None:
    shapes = {name: loss_shapes.measure(losses.create(name, num_classes=10, dim=16), 4.0) for name in losses.names()}
    for name, shape in shapes.items():
        assert np.isfinite(shape.pull).all(), name
        assert (shape.logit is None) == (not losses.get(name).is_cross_entropy), name
    look = looks(list(shapes), "normface")
    for quantity in ("logit", "pull"):
        shown = {name: shape for name, shape in shapes.items() if getattr(shape, quantity) is not None}
        figure = loss_shapes.figure(shown, quantity, "normface", look)
        assert len(figure.axes) == len(shown) - 1
        assert faults(figure) == []
        assert "seed 0" in loss_shapes.caption(quantity, "seed 0")
        assert "The largest" in loss_shapes.finding(shown, quantity)


def test_a_loss_takes_the_state_that_training_left() -> None:
    adacos = losses.create("adacos", num_classes=10, dim=16)
    loss_shapes.take_state(adacos, {"s": 4.5, "epoch": 3.0, "loss": math.nan})
    assert float(adacos.s) == 4.5  # type: ignore[arg-type]
    sphereface = losses.create("sphereface", num_classes=10, dim=16)
    loss_shapes.take_state(sphereface, {"lambda": 7.0, "m": 4.0})
    assert float(sphereface.annealing) == 7.0  # type: ignore[arg-type]
    kappaface = losses.create("kappaface", num_classes=10, dim=16)
    loss_shapes.take_state(kappaface, {"psi_mean": 0.25})
    assert torch.equal(kappaface.psi, torch.full((10,), 0.25))  # type: ignore[arg-type]
    loss_shapes.take_state(adacos, {"s": math.inf})
    assert float(adacos.s) == 4.5  # type: ignore[arg-type]


def test_one_huge_scale_does_not_flatten_the_others() -> None:
    made = {f"s={s}": losses.create("normface", num_classes=10, dim=4, s=float(s)) for s in (8, 9, 10, 5000)}
    shapes = {name: loss_shapes.measure(head) for name, head in made.items()}
    figure = loss_shapes.figure(shapes, "logit", "s=8", looks(list(shapes), "s=8"))
    assert figure.axes[0].get_ylim()[1] < 45
    assert [text.get_text() for text in figure.axes[-1].texts] == ["up to 5000", "down to −5000"]


def test_usual_differences_in_scale_are_not_cut() -> None:
    made = {f"s={s}": losses.create("normface", num_classes=10, dim=4, s=float(s)) for s in (4, 10, 12, 36)}
    shapes = {name: loss_shapes.measure(head) for name, head in made.items()}
    figure = loss_shapes.figure(shapes, "logit", "s=4", looks(list(shapes), "s=4"))
    low, high = figure.axes[0].get_ylim()
    assert low < -36
    assert high > 36
    assert not figure.axes[-1].texts
