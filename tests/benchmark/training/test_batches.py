"""How an epoch is divided and normalised."""

import pytest
import torch
from torch import Tensor

from benchmark import backbones
from benchmark.recipe.augmentation import AUGMENTATIONS
from benchmark.training.batches import Batches, batch_sizes, pixel_statistics
from benchmark.training.seeds import Seeds
from datasets import Data, Split


@pytest.mark.parametrize(
    ("images", "batch", "sizes"),
    [
        (256, 128, [128, 128]),
        (257, 128, [86, 86, 85]),
        (129, 128, [65, 64]),
        (100, 128, [100]),
        (3, 2, [3]),
        (2, 2, [2]),
        (5, 2, [3, 2]),
    ],
)
def test_sizes(images: int, batch: int, sizes: list[int]) -> None:
    assert batch_sizes(images, batch) == sizes


def test_statistics_are_those_of_the_pixels() -> None:
    images = torch.randint(256, (50, 3, 9, 7), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    images[:, 2] = 40
    mean, std = pixel_statistics(images)
    pixels = images.double().transpose(0, 1).flatten(1)
    torch.testing.assert_close(mean, pixels.mean(1).float())
    torch.testing.assert_close(std[:2], pixels[:2].std(1, unbiased=False).float())
    assert std[2] == 1.0


class Streamed:
    """Images that can be asked for by their numbers and in no other way."""

    def __init__(self, images: Tensor) -> None:
        self._images = images

    @property
    def shape(self) -> torch.Size:
        return self._images.shape

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: Tensor) -> Tensor:
        return self._images[index]


def test_streamed_images_give_the_same_batches(digits: Data) -> None:
    split = digits.train
    assert isinstance(split.images, Tensor)
    streamed = Split(Streamed(split.images), split.labels, split.names)
    found = []
    state = torch.get_rng_state()
    for source, loaders in ((split, 0), (streamed, 0), (streamed, 1), (streamed, 2)):
        net = backbones.create("convnet", digits.image_shape)
        batches = Batches(source, 100, AUGMENTATIONS.get("shift"), net.normalise, Seeds("d", "b", 0), "cpu", loaders)
        found.append([images.clone() for images, _, _ in batches.epoch(3)])
    assert all(torch.equal(first, one) for first, *others in zip(*found, strict=True) for one in others)
    assert found[0][0].is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(torch.get_rng_state(), state)


def test_augmentation_is_seeded_by_epoch_and_step(digits: Data) -> None:
    found: list[int] = []

    def watch(images: Tensor, generator: torch.Generator) -> Tensor:
        found.append(generator.initial_seed())
        torch.rand(len(found), generator=generator)
        return images

    seeds, net = Seeds("d", "b", 0), backbones.create("convnet", digits.image_shape)
    batches = Batches(digits.train, 400, watch, net.normalise, seeds, "cpu")
    for _ in batches.epoch(2):
        pass
    assert found == [seeds.augmentation(2, step) for step in range(3)]
