"""Every optimiser and schedule learns; heads say what they adapt; recipes that are wrong are refused."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import datasets
from benchmark.cell import Cell
from benchmark.recipe import Recipe
from benchmark.recipe.schedules import schedule_for
from benchmark.training import Trained, embed, train
from datasets import Data


def accuracy(trained: Trained, data: Data) -> float:
    """Share of test images that the head puts into their class."""
    embeddings = embed(trained.backbone, data.test.images)
    return float((trained.head.eval().logits(embeddings).argmax(1) == data.test.labels).float().mean())


@pytest.mark.parametrize(
    ("optimiser", "lr", "schedule"),
    [
        ("sgd", 0.1, "cosine"),
        ("sgd", 0.1, "onecycle"),
        ("sgd", 0.1, "step"),
        ("sgd", 0.05, "constant"),
        ("adamw", 3e-3, "cosine"),
        ("muon", 3e-3, "cosine"),
    ],
)
def test_learns_digits(optimiser: str, lr: float, schedule: str, make_cell: Callable[..., Cell], digits: Data) -> None:
    milestones = (0.5, 0.8) if schedule == "step" else ()
    cell = make_cell(
        "normface",
        {"s": 10.0},
        epochs=8,
        optimiser=optimiser,
        lr=lr,
        schedule=schedule,
        milestones=milestones,
        augmentation="none",
    )
    trained = train(cell, digits)
    assert trained.diverged_at is None
    assert accuracy(trained, digits) > 0.9
    losses = [row["loss"] for row in trained.history]
    assert losses[-1] < losses[0] / 2


def test_real_mnist() -> None:
    root = os.environ.get("MARGINBENCH_DATA")
    if not root or not (Path(root) / "MNIST").exists():
        pytest.skip("MARGINBENCH_DATA is unset or holds no MNIST: no real data to train on")
    data = datasets.load("mnist", root)
    recipe = Recipe(epochs=2, lr=0.1, batch=128, schedule="onecycle", warmup=0.3)
    cell = Cell({"name": "mnist", "seed": 0}, "convnet", 64, recipe, "normface", {"s": "auto"}, seed=0)
    assert accuracy(train(cell, data), data) > 0.99


def test_shapes_of_the_schedules() -> None:
    def factors(**settings: object) -> list[float]:
        factor = schedule_for(Recipe(**settings), 100)  # type: ignore[arg-type]
        return [factor(step) for step in range(100)]

    cosine = factors(schedule="cosine", warmup=0.1)
    assert cosine[:10] == sorted(cosine[:10])
    assert cosine[10] == 1.0
    assert cosine[55] == pytest.approx(0.5)
    assert 0 < cosine[99] < 0.001
    onecycle = factors(schedule="onecycle", warmup=0.3)
    assert 0.04 < onecycle[0] < 0.05
    assert max(onecycle) == onecycle[30] == 1.0
    step = factors(schedule="step", warmup=0.0, milestones=(0.5, 0.75))
    assert (step[0], step[49], step[50], step[75]) == pytest.approx((1.0, 1.0, 0.1, 0.01))
    assert factors(schedule="constant", warmup=0.0) == [1.0] * 100


def test_history_has_what_the_head_adapts(make_cell: Callable[..., Cell], digits: Data) -> None:
    columns = {}
    for loss in ("arcface", "adacos", "adaacos", "sphereface", "kappaface"):
        history = train(make_cell(loss), digits).history
        assert [row["epoch"] for row in history] == [1, 2]
        assert [row["step"] for row in history] == [9, 18]
        columns[loss] = history
    assert (columns["arcface"][0]["s"], columns["arcface"][0]["m"]) == (64.0, 0.5)
    assert columns["adacos"][0]["s"] != columns["adacos"][1]["s"]
    assert columns["adaacos"][1]["m"] >= 0.0
    assert columns["sphereface"][1]["lambda"] == 5.0
    assert 0.0 < columns["kappaface"][1]["psi_mean"] < 1.0


def test_vectors_have_no_weight_decay(make_cell: Callable[..., Cell], digits: Data) -> None:
    """With a rate so small that gradients do nothing, only decay moves weights."""
    recipe = {"epochs": 1, "lr": 1e-7, "schedule": "constant", "warmup": 0.0, "momentum": 0.0}
    kept, decayed = (train(make_cell(**recipe, weight_decay=decay), digits) for decay in (0.0, 1e5))
    for trained_part, reference in ((decayed.backbone, kept.backbone), (decayed.head, kept.head)):
        for name, weight in trained_part.named_parameters():
            length, before = float(weight.detach().norm()), float(reference.get_parameter(name).detach().norm())
            assert length < 0.95 * before if weight.ndim > 1 else length == pytest.approx(before, abs=1e-3), name


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"optimiser": "adam"}, "did you mean 'adamw'"),
        ({"schedule": "cos"}, "there is no schedule 'cos'"),
        ({"augmentation": "flipp"}, "did you mean 'flip'"),
        ({"schedule": "step"}, "milestones"),
        ({"lr": 0.0}, "lr=0.0"),
        ({"epochs": 0}, "epochs=0"),
        ({"batch": 1}, "batch=1"),
        ({"warmup": 1.0}, "warmup=1.0"),
        ({"label_smoothing": 1.0}, "label_smoothing=1.0"),
    ],
)
def test_wrong_recipes_are_refused(
    settings: dict[str, object], said: str, make_cell: Callable[..., Cell], digits: Data
) -> None:
    with pytest.raises(ValueError, match=said):
        train(make_cell(**settings), digits)


@pytest.mark.parametrize(("device", "said"), [("tpu", "expected 'cpu', 'cuda'"), ("cuda:99", "device='cuda:99'")])
def test_devices_that_are_not_there(device: str, said: str, make_cell: Callable[..., Cell], digits: Data) -> None:
    if device.startswith("cuda") and torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(ValueError, match=said):
        train(make_cell(), digits, device=device)


def test_embedding_is_repeatable_and_leaves_the_net_as_it_was(make_cell: Callable[..., Cell], digits: Data) -> None:
    net = train(make_cell(epochs=1), digits).backbone
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    first, again = embed(net, digits.test.images), embed(net, digits.test.images)
    assert first.dtype == torch.float32
    assert torch.equal(first, again)
    assert net.training
    assert all(torch.equal(net.state_dict()[name], before[name]) for name in before)
    torch.testing.assert_close(first, embed(net, digits.test.images, batch=7), rtol=1e-4, atol=1e-5)
