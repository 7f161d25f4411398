"""What every loss promises, whatever its formula. A newcomer's loss goes through all of it, with no edit here."""

import copy
import inspect

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import losses

CLASSES, DIM, BATCH = 6, 8, 10
MISSION = [
    "softmax", "normface", "sphereface", "cosface", "arcface", "combined", "adacos_fixed", "adacos", "adaacos",
    "arcgrad", "kappaface",
]  # fmt: skip


def batch(seed: int = 1) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(BATCH, DIM, generator=random)
    return x, torch.randint(CLASSES, (BATCH,), generator=random), torch.arange(BATCH)


def test_the_losses_of_the_mission_are_there() -> None:
    assert len(MISSION) == 11
    assert set(MISSION) <= set(losses.names())
    assert losses.names() == sorted(losses.names())
    assert losses.broken() == {}


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
class TestEveryLoss:
    def test_declares_its_facts(self, name: str) -> None:
        loss = losses.get(name)
        assert {loss.margin_on, loss.scale_on} <= {"", "cosine", "angle"}
        assert not loss.margin_on or isinstance(loss.hyper[loss.margin_name], losses.Hyper)
        assert all(hyper.meaning for hyper in loss.hyper.values())
        assert all(hyper.default is None or hyper.accepts(hyper.default) for hyper in loss.hyper.values())

    def test_is_an_attribute_of_the_package_whose_signature_shows_its_settings(self, name: str) -> None:
        loss = losses.get(name)
        assert getattr(losses, loss.__name__) is loss
        assert loss.__name__ in dir(losses)
        parameters = inspect.signature(loss).parameters
        assert list(parameters)[:2] == ["num_classes", "dim"]
        assert {key: parameters[key].default for key in loss.hyper} == {
            key: hyper.default for key, hyper in loss.hyper.items()
        }

    def test_keeps_numpy_numbers_and_tensors_as_plain_numbers(self, name: str) -> None:
        defaults = {key: hyper.default for key, hyper in losses.get(name).hyper.items()}
        numbers = {key: value for key, value in defaults.items() if isinstance(value, int | float)}
        numbers |= {"num_classes": CLASSES, "dim": DIM, "seed": 3, "num_samples": BATCH, "total_steps": 20}
        if losses.get(name).is_cross_entropy:
            numbers["label_smoothing"] = 0.1
        head = losses.create(name, **numbers)
        for kind in (np.array, lambda value: np.array(value)[()], lambda value: torch.from_numpy(np.array(value))):
            twin = losses.create(name, **{key: kind(value) for key, value in numbers.items()})
            assert repr(twin) == repr(head)
            assert torch.equal(twin.weight, head.weight)
            for key in numbers.keys() - {"seed"}:
                assert type(getattr(twin, key)) is type(getattr(head, key))
                assert isinstance(getattr(twin, key), int | float)

    def test_is_a_scalar_to_call_backward_on(self, name: str) -> None:
        head = losses.create(name, num_classes=CLASSES, dim=DIM)
        x, y, index = batch()
        x.requires_grad_()
        loss = head(x, y, index=index)
        assert loss.shape == ()
        assert loss.dtype == torch.float32
        loss.backward()
        assert x.grad is not None
        assert x.grad.abs().max() > 0
        for parameter in head.parameters():
            assert parameter.grad is not None
            assert parameter.grad.abs().max() > 0
        assert head.weight.shape == (CLASSES, DIM)

    def test_starts_from_the_same_unit_weights_as_every_other(self, name: str) -> None:
        weight = losses.create(name, num_classes=CLASSES, dim=DIM, seed=7).weight
        reference = losses.create("normface", num_classes=CLASSES, dim=DIM, seed=7).weight
        assert torch.equal(weight, reference)
        assert torch.allclose(weight.norm(dim=1), torch.ones(CLASSES))
        assert not torch.equal(weight, losses.create(name, num_classes=CLASSES, dim=DIM, seed=8).weight)

    def test_leaves_the_global_random_numbers_alone(self, name: str) -> None:
        before = torch.get_rng_state()
        head = losses.create(name, num_classes=CLASSES, dim=DIM)
        x, y, index = batch()
        head(x, y, index=index)
        head.end_epoch()
        assert torch.equal(before, torch.get_rng_state())

    def test_logits_have_no_margin_and_change_nothing(self, name: str) -> None:
        head = losses.create(name, num_classes=CLASSES, dim=DIM)
        x, y, index = batch()
        head(x, y, index=index)
        before = copy.deepcopy(head.state_dict())
        scores = head.logits(x)
        assert scores.shape == (BATCH, CLASSES)
        assert all(torch.equal(before[key], value) for key, value in head.state_dict().items())
        head.eval()
        if head.is_cross_entropy:
            assert head(x, y).item() == pytest.approx(F.cross_entropy(scores, y).item(), rel=1e-5)

    def test_copies_and_moves_like_any_module(self, name: str) -> None:
        head = losses.create(name, num_classes=CLASSES, dim=DIM)
        twin = copy.deepcopy(head)
        x, y, index = batch()
        assert torch.equal(head(x, y, index=index), twin(x, y, index=index))
        assert head.double()(x.double(), y, index=index).dtype == torch.float64
        assert type(head).__name__ in repr(head)

    def test_non_finite_embeddings_give_a_non_finite_loss(self, name: str) -> None:
        for value in (float("nan"), float("inf")):
            head = losses.create(name, num_classes=CLASSES, dim=DIM)
            x, y, index = batch()
            x[3, 2] = value
            assert not torch.isfinite(head(x, y, index=index))

    def test_takes_integer_labels_of_any_width(self, name: str) -> None:
        head, twin = (losses.create(name, num_classes=CLASSES, dim=DIM) for _ in range(2))
        x, y, index = batch()
        assert torch.equal(head(x, y, index=index), twin(x, y.to(torch.uint8), index=index))

    def test_label_smoothing_spreads_the_target_or_is_refused(self, name: str) -> None:
        if not losses.get(name).is_cross_entropy:
            with pytest.raises(ValueError, match="label_smoothing"):
                losses.create(name, num_classes=CLASSES, dim=DIM, label_smoothing=0.1)
            return
        head = losses.create(name, num_classes=CLASSES, dim=DIM, label_smoothing=0.1).eval()
        x, y, _ = batch()
        logs = F.log_softmax(head.logits(x).double(), dim=1)
        expected = -(0.9 * logs[torch.arange(BATCH), y] + 0.1 * logs.mean(1)).mean()
        assert head(x, y).item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.contract
@pytest.mark.parametrize("name", losses.names())
def test_dozens_of_steps_train_it(name: str) -> None:
    """A head alone can pull its weights to fixed clusters: the loss falls and every sample is recognised."""
    random = torch.Generator().manual_seed(0)
    centres = F.normalize(torch.randn(CLASSES, DIM, generator=random), dim=1)
    y = torch.arange(60) % CLASSES
    x = 4.0 * (centres[y] + 0.1 * torch.randn(60, DIM, generator=random))
    settings = {"s": 10.0} if "s" in losses.get(name).hyper else {}
    head = losses.create(name, num_classes=CLASSES, dim=DIM, total_steps=200, **settings)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(200):
        optimiser.zero_grad()
        head(x, y, index=torch.arange(60)).backward()
        optimiser.step()
    assert (head.logits(x).argmax(1) == y).float().mean() == 1.0
