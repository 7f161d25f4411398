"""A run that diverges is a result."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from benchmark.cell import Cell
from benchmark.training import embed, train
from datasets import Data
from losses import Head


def test_huge_rate_diverges(make_cell: Callable[..., Cell], digits: Data, checkpoint: Path) -> None:
    trained = train(make_cell("softmax", lr=1e12, epochs=5), digits, checkpoint=checkpoint, checkpoint_every=0.0)
    assert trained.diverged_at is not None
    assert 1 < trained.diverged_at < 45
    assert trained.history[-1]["step"] == trained.diverged_at
    assert "loss is" in trained.diverged_reason or "norm is" in trained.diverged_reason
    assert embed(trained.backbone, digits.test.images).shape == (450, 16)


@pytest.mark.parametrize(
    ("value", "said"), [(math.nan, "loss is nan"), (math.inf, "loss is inf"), (2e6, "loss is 2e+06")]
)
def test_unusable_loss_stops_at_once(
    value: float, said: str, make_cell: Callable[..., Cell], digits: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def forward(head: Head, embeddings: Tensor, labels: Tensor, index: Tensor | None = None) -> Tensor:
        calls.append(1)
        return embeddings.square().mean() * 0 + (value if len(calls) == 12 else 3.0)

    monkeypatch.setattr(Head, "forward", forward)
    trained = train(make_cell(), digits)
    assert trained.diverged_at == len(calls) == 12
    assert [row["epoch"] for row in trained.history] == [1, 2]
    assert trained.history[0]["loss"] == 3.0
    assert said in trained.diverged_reason


def test_unusable_gradient_stops_before_it_is_used(
    make_cell: Callable[..., Cell], digits: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forward(head: Head, embeddings: Tensor, labels: Tensor, index: Tensor | None = None) -> Tensor:
        return (embeddings - embeddings.detach()).sum().clamp_min(0).sqrt()  # 0, with an infinite slope

    monkeypatch.setattr(Head, "forward", forward)
    trained = train(make_cell(), digits)
    assert trained.diverged_at == 1
    assert "gradient's norm is" in trained.diverged_reason
    assert all(bool(weight.isfinite().all()) for weight in trained.backbone.parameters())


def test_embedding_by_a_net_that_is_not_finite(make_cell: Callable[..., Cell], digits: Data) -> None:
    trained = train(make_cell(epochs=1), digits)
    with torch.no_grad():
        trained.backbone.embedding.weight.fill_(math.nan)
    assert bool(embed(trained.backbone, digits.test.images).isnan().all())
