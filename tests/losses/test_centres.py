"""Sub-center ArcFace: several centres are trained, the dominant one of each class is `weight`."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import losses
from benchmark.engine.job import head_arrays
from losses.subcenter import SubCenter

CLASSES, DIM = 4, 6


def random_batch(size: int = 12, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed + 70)
    return torch.randn(size, DIM, generator=random), torch.randint(CLASSES, (size,), generator=random)


def near(head: SubCenter, label: int, centre: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    return 5.0 * head.centres.detach()[label, centre].expand(size, DIM), torch.full((size,), label)


def test_what_is_trained_and_what_is_kept() -> None:
    head = SubCenter(CLASSES, DIM, k=3)
    assert [(name, tuple(weight.shape)) for name, weight in head.named_parameters()] == [("centres", (CLASSES, 3, DIM))]
    assert set(head.state_dict()) == {"centres", "hits", "_extra_state"}
    assert not isinstance(head.weight, nn.Parameter)
    assert head.weight.shape == (CLASSES, DIM)
    assert torch.allclose(head.centres.norm(dim=2), torch.ones(CLASSES, 3))
    assert not torch.equal(head.centres[:, 0], head.centres[:, 1])


def test_before_any_batch_the_first_centre_is_the_weight_as_every_loss_starts_with_it() -> None:
    head, arcface = (losses.create(name, num_classes=CLASSES, dim=DIM, seed=5) for name in ("subcenter", "arcface"))
    assert torch.equal(head.weight, arcface.weight)


def test_the_dominant_centre_is_the_one_that_most_recent_samples_are_nearest_to() -> None:
    head = SubCenter(CLASSES, DIM, k=3)
    head(*near(head, label=1, centre=2, size=7))
    head(*near(head, label=1, centre=1, size=4))
    assert torch.equal(head.weight[1], head.centres[1, 2])
    assert torch.equal(head.weight[0], head.centres[0, 0])  # no sample yet
    for _ in range(40):
        head(*near(head, label=1, centre=1, size=4))
    assert torch.equal(head.weight[1], head.centres[1, 1])
    assert torch.equal(head.weight[[0, 2, 3]], head.centres[[0, 2, 3], 0])


def test_counts_on_hand_made_numbers() -> None:
    head = SubCenter(CLASSES, DIM, k=2)
    one, two = near(head, label=0, centre=1, size=2), near(head, label=3, centre=0, size=1)
    head(torch.cat([one[0], two[0]]), torch.cat([one[1], two[1]]))
    head(*near(head, label=0, centre=0, size=1))
    expected = torch.tensor([[1.0, 0.99 * 2.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    assert torch.allclose(head.hits, expected)


def test_scores_and_evaluation_are_those_of_the_dominant_centres() -> None:
    head = SubCenter(CLASSES, DIM, k=3, s=8.0)
    for label, centre in ((0, 2), (2, 1)):
        head(*near(head, label, centre, size=5))
    before = copy.deepcopy(head.state_dict())
    x, y = random_batch()
    expected = 8.0 * F.normalize(x, dim=1) @ F.normalize(head.weight, dim=1).T
    assert torch.allclose(head.logits(x), expected, atol=1e-5)
    assert head.eval()(x, y).item() == pytest.approx(F.cross_entropy(expected, y).item(), rel=1e-5)
    assert all(torch.equal(before[key], value) for key, value in head.state_dict().items())


def test_each_class_is_trained_by_its_nearest_centre_alone() -> None:
    head = SubCenter(CLASSES, DIM, k=3, s=8.0)
    x, y = random_batch(1)
    head(x, y).backward()
    moved = head.centres.grad.norm(dim=2) > 0.0  # type: ignore[union-attr]
    nearest = (head.centres @ F.normalize(x, dim=1)[0]).argmax(1)
    assert torch.equal(moved, F.one_hot(nearest, 3).bool())


def test_an_optimiser_moves_the_weight() -> None:
    head = SubCenter(CLASSES, DIM, s=8.0)
    before = head.weight.detach().clone()
    optimiser = torch.optim.SGD(head.parameters(), lr=0.5)
    x, y = random_batch()
    head(x, y).backward()
    optimiser.step()
    assert (head.weight - before).norm(dim=1).max() > 0.0
    assert head.weight.requires_grad


def test_dominance_survives_a_reload_and_is_what_is_stored() -> None:
    head = SubCenter(CLASSES, DIM, k=3)
    head(*near(head, label=1, centre=2, size=7))
    other = SubCenter(CLASSES, DIM, k=3, seed=9)
    other.load_state_dict(head.state_dict())
    assert torch.equal(other.weight, head.weight)
    kept = head_arrays(head)["weight"]
    assert torch.equal(kept, head.weight.detach())
    assert kept.shape == (CLASSES, DIM)


def test_a_class_of_two_clusters_keeps_both_and_outliers_do_not_pull_at_the_dominant_one() -> None:
    """A fifth of class 0 lies far off: with one centre the weight bends towards it, with two it stays."""
    random = torch.Generator().manual_seed(1)
    directions = torch.eye(DIM)
    clean = directions[torch.arange(80) % CLASSES] + 0.05 * torch.randn(80, DIM, generator=random)
    odd = directions[5] + 0.05 * torch.randn(5, DIM, generator=random)
    x, y = torch.cat([clean, odd]), torch.cat([torch.arange(80) % CLASSES, torch.zeros(5, dtype=torch.int64)])
    angles = {}
    for k in (1, 2):
        head = SubCenter(CLASSES, DIM, k=k, s=8.0, m=0.3)
        optimiser = torch.optim.Adam(head.parameters(), lr=0.05)
        for _ in range(150):
            optimiser.zero_grad()
            head(x, y).backward()
            optimiser.step()
        towards_odd = F.normalize(head.weight.detach(), dim=1)[0, 5]
        angles[k] = float(towards_odd)
    assert angles[2] < angles[1] - 0.05
