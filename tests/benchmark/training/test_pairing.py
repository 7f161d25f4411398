"""Cells that differ in their loss alone start from the same weights and see the same images."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import losses
from benchmark import backbones
from benchmark.cell import Cell
from benchmark.training import Trained, train
from benchmark.training.seeds import Seeds, derive
from datasets import Data


def bytes_of(trained: Trained) -> dict[str, bytes]:
    tensors = {**trained.backbone.state_dict(), **{f"head.{k}": v for k, v in trained.head.state_dict().items()}}
    return {name: tensor.contiguous().numpy().tobytes() for name, tensor in tensors.items()}


def images_seen(monkeypatch: pytest.MonkeyPatch, cell: Cell, data: Data) -> tuple[list[Tensor], dict[str, Tensor]]:
    """Every batch that the backbone was given, and the weights that it began with."""
    seen: list[Tensor] = []
    first: dict[str, Tensor] = {}
    forward = backbones.Backbone.forward

    def recording(net: backbones.Backbone, images: Tensor) -> Tensor:
        if not first:
            first.update({name: tensor.clone() for name, tensor in net.state_dict().items()})
        seen.append(images.clone())
        return forward(net, images)

    with monkeypatch.context() as patched:
        patched.setattr(backbones.Backbone, "forward", recording)
        train(cell, data)
    return seen, first


@pytest.mark.parametrize("augmentation", ["none", "affine"])
def test_two_losses_see_the_same(
    augmentation: str,
    monkeypatch: pytest.MonkeyPatch,
    make_cell: Callable[..., Cell],
    digits: Data,
    shown: Callable[[], object],
) -> None:
    draws_numbers = losses.get("arcface")
    monkeypatch.setattr(draws_numbers, "update_state", lambda head, batch: torch.rand(3, generator=head.generator))
    records = []
    for loss in ("arcface", "softmax"):
        record = shown()
        records.append((record, *images_seen(monkeypatch, make_cell(loss, augmentation=augmentation), digits)))
    (one, images, weights), (other, other_images, other_weights) = records
    assert len(images) == 18
    assert all(torch.equal(a, b) for a, b in zip(images, other_images, strict=True))
    assert all(torch.equal(weights[name], other_weights[name]) for name in weights)
    assert all(torch.equal(a, b) for a, b in zip(one.index, other.index, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(one.labels, other.labels, strict=True))
    assert not torch.equal(images[0], images[9]), "epochs have the same order"


def test_labels_and_numbers_belong_to_the_images(
    monkeypatch: pytest.MonkeyPatch, make_cell: Callable[..., Cell], digits: Data, shown: Callable[[], object]
) -> None:
    record = shown()
    images, _ = images_seen(monkeypatch, make_cell(augmentation="none", epochs=1), digits)
    assert torch.cat(record.index).sort().values.tolist() == list(range(len(digits.train)))
    net = backbones.create("convnet", digits.image_shape)
    everything = digits.train.images
    assert isinstance(everything, Tensor)
    mean, std = everything.float().mean(), everything.float().std(unbiased=False)
    net.pixel_mean.fill_(mean)
    net.pixel_std.fill_(std)
    for batch, labels, index in zip(images, record.labels, record.index, strict=True):
        torch.testing.assert_close(batch, net.normalise(everything[index]), atol=1e-5, rtol=1e-5)
        assert torch.equal(labels, digits.train.labels[index])


def test_the_same_cell_gives_the_same_bytes(make_cell: Callable[..., Cell], digits: Data) -> None:
    first, again = (train(make_cell(), digits) for _ in range(2))
    assert bytes_of(first) == bytes_of(again)
    assert first.history == again.history
    other = bytes_of(train(make_cell(seed=1), digits))
    assert other["embedding.weight"] != bytes_of(first)["embedding.weight"]
    assert other["head.weight"] != bytes_of(first)["head.weight"]


def test_no_use_of_the_global_random_state(make_cell: Callable[..., Cell], digits: Data) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = bytes_of(train(make_cell(epochs=1), digits))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert bytes_of(train(make_cell(epochs=1), digits)) == first


def test_seeds_differ_by_every_part() -> None:
    seeds = Seeds("digest", "convnet", 0)
    all_of_them = [
        seeds.backbone_weights,
        seeds.head,
        seeds.order(0),
        seeds.order(1),
        seeds.augmentation(0, 0),
        seeds.augmentation(0, 1),
        seeds.augmentation(1, 0),
        Seeds("digest", "convnet", 1).order(0),
        Seeds("digest", "resnet20", 0).order(0),
        Seeds("other", "convnet", 0).order(0),
    ]
    assert len(set(all_of_them)) == len(all_of_them)
    assert all(0 <= seed < 2**63 for seed in all_of_them)
    assert derive("order", a=1, b=2) == derive("order", b=2, a=1) == 1361260490777510755
