"""The fused path: as exact as float64 asks, in any blocks, in bounded memory."""

import copy
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import losses
from benchmark.audit.checks import blocks, loss_and_gradients, trained_batch

FUSED = [name for name in losses.names() if getattr(losses.create(name, num_classes=3, dim=2), "fusable", False)]


def assert_exact(found: tuple[torch.Tensor, ...], expected: tuple[torch.Tensor, ...]) -> None:
    for one, other in zip(found, expected, strict=True):
        allowed = 1e-5 * other.abs().max() + 1e-7
        assert (one.double() - other).abs().max() <= allowed


def both_paths(
    name: str, classes: int, dim: int, batch: tuple[torch.Tensor, torch.Tensor] | None = None, **chosen: Any
) -> tuple[losses.Head, losses.Head]:
    head = losses.create(name, num_classes=classes, dim=dim, **chosen)
    reference = copy.deepcopy(head).double()
    head.fused, reference.fused = True, False  # type: ignore[assignment]
    return head, reference


@pytest.mark.contract
@pytest.mark.parametrize("name", FUSED)
@settings(max_examples=15, deadline=None)
@given(
    size=st.integers(1, 40), classes=st.integers(3, 90), dim=st.integers(2, 40),
    width=st.integers(1, 50), keep_bytes=st.sampled_from([0, 2**30]), seed=st.integers(0, 1000),
)  # fmt: skip
def test_any_size_in_any_blocks(
    name: str, size: int, classes: int, dim: int, width: int, keep_bytes: int, seed: int
) -> None:
    head, reference = both_paths(name, classes, dim)
    random = torch.Generator().manual_seed(seed + 10_000)
    x = 3.0 * torch.randn(size, dim, generator=random)
    y = torch.randint(classes, (size,), generator=random)
    with blocks(width, keep_bytes):
        assert_exact(loss_and_gradients(head, x, y), loss_and_gradients(reference, x.double(), y))


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name in FUSED if "s" in losses.get(name).hyper])
@pytest.mark.parametrize("s", [16.0, 64.0, 256.0])
@pytest.mark.parametrize(("classes", "dim"), [(300, 64), (1000, 16), (37, 512)])
@pytest.mark.parametrize("keep_bytes", [0, 2**30])
def test_trained_geometry_at_large_scales(name: str, s: float, classes: int, dim: int, keep_bytes: int) -> None:
    """Target cosines of .5 to .99, where the target's posterior is near 1 and its gradient cancels."""
    head, reference = both_paths(name, classes, dim, s=s)
    with torch.no_grad():
        head.weight.mul_(torch.linspace(0.2, 5.0, classes)[:, None])
        reference.weight.copy_(head.weight)
    x, y = trained_batch(head.weight, 50, seed=3)
    with blocks(width=113, keep_bytes=keep_bytes):
        assert_exact(loss_and_gradients(head, x, y), loss_and_gradients(reference, x.double(), y))


def test_the_target_gradient_survives_near_perfect_alignment() -> None:
    """At θ = 1e-5 the fp32 difference w − c·z would be noise."""
    head, reference = both_paths("arcface", 50, 32, s=16.0)
    own = head.weight.detach()[:20]
    away = torch.randn(20, 32, generator=torch.Generator().manual_seed(5))
    x, y = own + 1e-5 * away, torch.arange(20)
    with blocks(width=16, keep_bytes=0):
        assert_exact(loss_and_gradients(head, x, y), loss_and_gradients(reference, x.double(), y))


@pytest.mark.parametrize("keep_bytes", [0, 2**30])
def test_a_retained_graph_can_be_walked_again(keep_bytes: int) -> None:
    head, _ = both_paths("arcface", 500, 8)
    x = torch.randn(20, 8, requires_grad=True)
    with blocks(width=64, keep_bytes=keep_bytes):
        loss = head(x, torch.arange(20))
        (first,) = torch.autograd.grad(loss, x, retain_graph=True)
        other = head(x.detach() * -1.0, torch.arange(20))  # takes the store in the meantime
        other.backward()
        (second,) = torch.autograd.grad(loss, x)
    assert torch.allclose(first, second, rtol=1e-4, atol=1e-7)


def test_two_graphs_at_once_do_not_share_their_store() -> None:
    head, _ = both_paths("cosface", 400, 8)
    x, z = torch.randn(10, 8, requires_grad=True), torch.randn(10, 8, requires_grad=True)
    with blocks(width=64, keep_bytes=2**30):
        one, two = head(x, torch.arange(10)), head(z, torch.arange(10))
        (found,) = torch.autograd.grad(one, x)
        (other,) = torch.autograd.grad(two, z)
        (expected,) = torch.autograd.grad(head(x, torch.arange(10)), x)
        (expected_other,) = torch.autograd.grad(head(z, torch.arange(10)), z)
    assert torch.equal(found, expected)
    assert torch.equal(other, expected_other)


def test_the_upstream_gradient_counts() -> None:
    head, _ = both_paths("arcface", 300, 8)
    x, y = torch.randn(10, 8, requires_grad=True), torch.arange(10)
    (once,) = torch.autograd.grad(head(x, y), x)
    (scaled,) = torch.autograd.grad(-2.5 * head(x, y), x)
    assert (scaled + 2.5 * once).abs().max() <= 1e-5 * once.abs().max()


def test_frozen_weights_and_frozen_embeddings() -> None:
    head, _ = both_paths("arcface", 300, 8)
    x, y = torch.randn(10, 8), torch.arange(10)
    head(x, y).backward()
    assert head.weight.grad is not None
    expected = head.weight.grad.clone()
    head.weight.requires_grad_(False)
    leaf = x.clone().requires_grad_()
    head(leaf, y).backward()
    assert leaf.grad is not None
    head.weight.requires_grad_(True)
    head.weight.grad = None
    head(leaf, y).backward()
    assert torch.allclose(head.weight.grad, expected)
    with torch.no_grad():
        assert head(x, y).requires_grad is False


@pytest.mark.parametrize("keep_bytes", [0, 2**30])
def test_what_is_kept_for_backward(keep_bytes: int) -> None:
    """In bounded mode nothing of size B×C outlives forward; in the other exactly one B×C store does."""
    head, _ = both_paths("arcface", 5000, 4)
    seen: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        seen.append(tensor)
        return tensor

    x = torch.randn(40, 4, requires_grad=True)
    with blocks(width=256, keep_bytes=keep_bytes), torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept):
        loss = head(x, torch.arange(40))
    assert max(tensor.numel() for tensor in seen) <= head.weight.numel()
    node = loss.grad_fn
    stores = []
    while node is not None:
        stores += [len(store) for store in [getattr(node, "store", None)] if store is not None]
        node = node.next_functions[0][0] if node.next_functions else None
    assert stores == ([] if keep_bytes == 0 else [40 * 5000])


def test_label_smoothing_falls_back_to_the_plain_path() -> None:
    smooth = losses.create("arcface", num_classes=3000, dim=8, label_smoothing=0.1)
    assert not smooth.uses_fused_path(256)
    assert losses.create("arcface", num_classes=3000, dim=8).uses_fused_path(256)
    assert not losses.create("arcface", num_classes=10, dim=8).uses_fused_path(256)


def test_a_second_derivative_is_refused_clearly_and_the_plain_path_has_it() -> None:
    head, plain = both_paths("arcface", 6, 4, s=8.0)
    x = torch.randn(3, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"no second derivative: set head.fused = False"):
        torch.autograd.grad(head(x, torch.arange(3)), x, create_graph=True)
    wide = x.detach().double().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda at: plain(at, torch.arange(3)), wide)


@pytest.mark.contract
@pytest.mark.parametrize("name", FUSED)
def test_one_dimension_leaves_nothing_but_rounding(name: str) -> None:
    """On a line no angle can change: every gradient through a direction is 0, up to fp32 rounding of s."""
    head, reference = both_paths(name, 9, 1)
    x, y = torch.linspace(-2.0, 3.0, 6)[:, None], torch.arange(6)
    found, expected = loss_and_gradients(head, x, y), loss_and_gradients(reference, x.double(), y)
    assert found[0].item() == pytest.approx(expected[0].item(), rel=1e-5)
    assert all((one - other).abs().max() <= 1e-5 for one, other in zip(found[1:], expected[1:], strict=True))


def test_a_trainable_scale_gets_its_gradient() -> None:
    """What a newcomer may do: the scale is a parameter."""

    class Learned(losses.CosineHead):
        def setup(self) -> None:
            self.s = torch.nn.Parameter(torch.tensor(7.0, dtype=torch.float64))

    head, plain = Learned(300, 8).double(), Learned(300, 8).double()
    head.fused, plain.fused = True, False
    x, y = torch.randn(10, 8, dtype=torch.float64), torch.arange(10)
    head(x, y).backward()
    plain(x, y).backward()
    assert isinstance(head.s, torch.Tensor)
    assert isinstance(plain.s, torch.Tensor)
    assert torch.allclose(head.s.grad, plain.s.grad, rtol=1e-10)  # type: ignore[arg-type]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("factor", [1e-9, 1e15, 1e20])
def test_lengths_near_the_ends_of_fp32_change_nothing_but_the_gradients_length(fused: bool, factor: float) -> None:
    """Squares of such entries overflow or vanish in fp32, their directions do not."""
    random = torch.Generator().manual_seed(9)
    x, y = torch.randn(12, 6, generator=random), torch.randint(40, (12,), generator=random)
    head, scaled = (losses.create("arcface", num_classes=40, dim=6, s=16.0) for _ in range(2))
    head.fused = scaled.fused = fused  # type: ignore[assignment]
    with torch.no_grad():
        scaled.weight.mul_(factor)
    value, to_x, to_weight = loss_and_gradients(head, x, y)
    found, to_scaled_x, to_scaled_weight = loss_and_gradients(scaled, factor * x, y)
    assert found.item() == pytest.approx(value.item(), rel=1e-5)
    for one, other in ((to_scaled_x, to_x), (to_scaled_weight, to_weight)):
        assert ((one.double() * factor) - other.double()).abs().max() <= 1e-4 * other.abs().max()
    assert torch.allclose(scaled.logits(factor * x), head.logits(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("keep_bytes", [0, 2**30])
def test_hard_negatives_at_scale_256(keep_bytes: int) -> None:
    """Target cosines around .76 among near neighbours: posteriors of all sizes."""
    head, reference = both_paths("arcface", 700, 32, s=256.0, m=0.2)
    random = torch.Generator().manual_seed(4)
    y = torch.randint(700, (64,), generator=random)
    x = head.weight.detach()[y] + 0.15 * torch.randn(64, 32, generator=random)
    with blocks(width=113, keep_bytes=keep_bytes):
        assert_exact(loss_and_gradients(head, x, y), loss_and_gradients(reference, x.double(), y))


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
@pytest.mark.parametrize("fused", [True, False])
def test_state_may_change_between_forward_and_backward(name: str, fused: bool) -> None:
    head = losses.create(name, num_classes=9, dim=4).double()
    head.fused = fused  # type: ignore[assignment]
    x, y = torch.randn(8, 4, dtype=torch.float64, requires_grad=True), torch.arange(8)
    scores = head.logits(x)
    (head(x, y, index=y) + head(2.0 * x + 1.0, y, index=y) + scores.sum()).backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()
