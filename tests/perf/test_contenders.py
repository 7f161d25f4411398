import pytest
import torch

from perf import _contenders as contenders


def test_all_contenders_compute_the_same_loss() -> None:
    """Otherwise their times would not be worth comparing."""
    embeddings, labels, weight = contenders.inputs(50, 16, 32)
    found = {}
    for name, make in contenders.HEADS.items():
        head = make(50, 16)
        own = head.W if name == "pytorch-metric-learning" else head.weight
        with torch.no_grad():
            own.copy_(weight.T if own.shape == (16, 50) else weight)
        found[name] = head(embeddings, labels).item()
    assert found["textbook"] == pytest.approx(found["arcface"], rel=1e-4)
    assert found["pytorch-metric-learning"] == pytest.approx(found["arcface"], rel=1e-2)  # its margin is 28.6°


def test_one_tile_leaves_the_budget_as_it_was() -> None:
    from losses import _fused

    before = _fused.KEEP_BYTES
    embeddings, labels, _ = contenders.inputs(50, 16, 32)
    contenders.one_tile(contenders.arcface(50, 16), embeddings, labels)()
    assert before == _fused.KEEP_BYTES > 0
