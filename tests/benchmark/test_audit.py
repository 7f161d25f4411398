"""The audit passes what is right, and for every check a deliberately broken loss shows that it can fail."""

import json
import math
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from typer.testing import CliRunner

import losses
from benchmark.audit import CHECKS, as_json, as_table, audit
from benchmark.cli import app
from losses import Batch, Head, TargetOnlyHead, _registry, choice, number, scale
from losses.sphereface2 import SphereFace2


class Good(TargetOnlyHead):
    """ℓ_y = s·(c − m), right in every way."""

    neutral = ({"m": 0.0}, "normface")
    s: float = scale(16.0)
    m: float = number(0.2, low=0.0, high=1.0, meaning="margin")

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m


class InfiniteSlope(Good):
    """arccos has an infinite slope at c=±1."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return torch.cos(torch.acos(cosine) + self.m)


class Normalise(Head):
    """A zero vector gets a gradient of g/ε."""

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        return F.normalize(embeddings) @ F.normalize(weight).T


class HalfPrecision(Good):
    """Goes back to the half precision that it was called under."""

    def forward(self, embeddings: Tensor, labels: Tensor, index: Tensor | None = None) -> Tensor:
        cosines = F.normalize(embeddings) @ F.normalize(self.weight).T
        return F.cross_entropy(16.0 * cosines, labels)


class Rises(Good):
    """cos(θ + m) rises again beyond π."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine * math.cos(1.0) - (1.0 - cosine**2).clamp_min(1e-12).sqrt() * math.sin(1.0)


class RisesWhenLong(Good):
    """Falls for short embeddings and rises for long ones."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return torch.where(batch.norms() < 20.0, cosine, -cosine)


class SaysExact(Good):
    """Declares an exact gradient and detaches its margin."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - (self.m * cosine**2).detach()


class SaysDetached(Good):
    """Declares a detached gradient and lets it through."""

    gradient: str = choice("detached", ("exact", "detached"), meaning="as for every target-only loss")

    def target_value(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m * (1.0 - cosine) ** 2

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m * (1.0 - cosine) ** 2

    def needs_slope(self) -> bool:
        return True


class NotNeutral(Good):
    """Keeps a margin at its neutral setting."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m - 0.01


class NotElementwise(Good):
    """A sample's target depends on the others' cosines, which the fused path's slope cannot see."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m * cosine.mean()


class ChangesNegatives(Good):
    """Changes the others' logits too, which the fused path of a target-only loss cannot see."""

    def negative_cosines(self, cosines: Tensor, target: Tensor, batch: Batch) -> Tensor:
        return 0.9 * cosines


class LearnsInEvaluation(Good):
    def setup(self) -> None:
        self.register_buffer("calls", torch.tensor(0))

    def evaluation_loss(self, batch: Batch) -> Tensor:
        self.calls += 1
        return super().evaluation_loss(batch)


class MarginInEvaluation(Good):
    def evaluation_loss(self, batch: Batch) -> Tensor:
        return self.training_loss(batch)


class BinaryMarginInEvaluation(SphereFace2):
    def evaluation_loss(self, batch: Batch) -> Tensor:
        return self.training_loss(batch)


class DrawsElsewhere(Good):
    """Draws from torch's own generator, whose state is not in the head's state_dict."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m * torch.rand(len(cosine), dtype=cosine.dtype)


class Forgets(Good):
    """Its margin grows in an attribute that state_dict does not know."""

    def setup(self) -> None:
        self.steps = 0

    def update_state(self, batch: Batch) -> None:
        self.steps += 1

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - 0.01 * self.steps


class FavoursAClass(Good):
    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m * (batch.labels == 0)


class NeedsTwo(Good):
    """The deviation over a batch of one is not a number."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - batch.cosine.std()


class NeedsThreeClasses(Good):
    """Divides by ln(C−1) without saying so."""

    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine / torch.tensor(float(self.num_classes - 1)).log()


BROKEN: list[tuple[str, type[Head]]] = [
    ("c=±1", InfiniteSlope),
    ("zero", Normalise),
    ("bf16", HalfPrecision),
    ("fp16", HalfPrecision),
    ("falls", Rises),
    ("falls", RisesWhenLong),
    ("gradient", SaysExact),
    ("gradient", SaysDetached),
    ("neutral", NotNeutral),
    ("fused", NotElementwise),
    ("fused", ChangesNegatives),
    ("evaluation", LearnsInEvaluation),
    ("evaluation", MarginInEvaluation),
    ("evaluation", BinaryMarginInEvaluation),
    ("resume", Forgets),
    ("resume", DrawsElsewhere),
    ("relabel", FavoursAClass),
    ("one", NeedsTwo),
    ("two", NeedsThreeClasses),
]


@pytest.fixture
def registered() -> Iterator[dict[str, type[Head]]]:
    """The losses of this file under names of their own, for as long as a test lasts."""
    added = {loss.__name__.lower(): loss for loss in [Good, *(loss for _, loss in BROKEN)]}
    before = dict(_registry._losses)
    for name, loss in added.items():
        loss.name = name
        _registry._losses[name] = loss
    yield added
    _registry._losses.clear()
    _registry._losses.update(before)


def test_every_check_has_a_loss_that_breaks_it() -> None:
    assert {check for check, _ in BROKEN} == {check.name for check in CHECKS}


@pytest.mark.parametrize(("check", "loss"), BROKEN, ids=[f"{check}-{loss.__name__}" for check, loss in BROKEN])
def test_the_check_fails_the_broken_loss(check: str, loss: type[Head], registered: dict[str, type[Head]]) -> None:
    found = {outcome.check: outcome for outcome in audit([loss.name])}
    assert found[check].verdict == "fail"


def test_a_right_loss_passes_them_all(registered: dict[str, type[Head]]) -> None:
    assert [outcome for outcome in audit(["good"]) if outcome.verdict != "pass"] == []


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
def test_every_loss_passes(name: str) -> None:
    assert [outcome for outcome in audit([name]) if outcome.verdict == "fail"] == []


def test_command_line(registered: dict[str, type[Head]]) -> None:
    passing = CliRunner().invoke(app, ["audit", "good", "cosface"])
    assert passing.exit_code == 0
    assert "cosface" in passing.stdout
    failing = CliRunner().invoke(app, ["audit", "good", "rises"])
    assert failing.exit_code == 1
    assert "✗" in failing.stdout
    as_data = json.loads(CliRunner().invoke(app, ["audit", "rises", "--json"]).stdout)
    assert {row["check"] for row in as_data} == {check.name for check in CHECKS}
    assert any(row["verdict"] == "fail" and row["check"] == "falls" and row["worst"] > 0 for row in as_data)


def test_table_and_json_show_tolerances_and_reasons(registered: dict[str, type[Head]]) -> None:
    class Raises(Good):
        def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
            raise ZeroDivisionError("on purpose")

    registered["raises"] = Raises
    Raises.name = "raises"
    _registry._losses["raises"] = Raises
    outcomes = list(audit(["raises", "arcgrad"]))
    table = as_table(outcomes)
    assert "ZeroDivisionError: on purpose" in table
    assert "≤ 0.0001" in table
    assert table.splitlines()[2].startswith("raises")
    assert table.splitlines()[2].endswith("FAIL")
    assert table.splitlines()[3].endswith("pass")
    rows = json.loads(as_json(outcomes))
    assert {row["tolerance"] for row in rows} == {check.tolerance for check in CHECKS}
