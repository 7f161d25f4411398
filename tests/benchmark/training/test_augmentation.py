"""Every augmentation: same shape, same draw for the same seed, a real change, and the change that it says."""

import pytest
import torch
from torch import Generator, Tensor

from benchmark.recipe.augmentation import AUGMENTATIONS


@pytest.fixture
def images() -> Tensor:
    return torch.randint(256, (64, 3, 12, 10), dtype=torch.uint8, generator=seeded(0))


def seeded(seed: int) -> Generator:
    return Generator().manual_seed(seed)


@pytest.mark.contract
@pytest.mark.parametrize("name", AUGMENTATIONS.names())
def test_shape_values_and_determinism(name: str, images: Tensor) -> None:
    before = images.clone()
    augment = AUGMENTATIONS.get(name)
    first, again, other = augment(images, seeded(1)), augment(images, seeded(1)), augment(images, seeded(2))
    assert first.shape == images.shape
    assert first.dtype == (torch.float32 if name == "affine" else torch.uint8)
    assert first.min() >= 0
    assert first.max() <= 255
    assert torch.equal(first, again)
    assert torch.equal(images, before), "the images themselves were changed"
    changed = not torch.equal(first, images.to(first.dtype))
    assert changed == (not torch.equal(first, other)) == (name != "none")


def test_shift_moves_whole_pixels_and_repeats_the_border() -> None:
    images = torch.arange(64, dtype=torch.uint8).view(1, 1, 8, 8).expand(200, 1, 8, 8)
    found = {tuple(image.flatten().tolist()) for image in AUGMENTATIONS.get("shift")(images, seeded(0))}
    expected = {
        tuple(images[0, 0][rows][:, columns].flatten().tolist())
        for rows in ((torch.arange(8) + dy).clamp(0, 7) for dy in range(-2, 3))
        for columns in ((torch.arange(8) + dx).clamp(0, 7) for dx in range(-2, 3))
    }
    assert found == expected


def test_flip_mirrors_about_half(images: Tensor) -> None:
    flipped = AUGMENTATIONS.get("flip")(images, seeded(0))
    mirrored = [torch.equal(new, old.flip(2)) for new, old in zip(flipped, images, strict=True)]
    same = [torch.equal(new, old) for new, old in zip(flipped, images, strict=True)]
    assert all(a != b for a, b in zip(mirrored, same, strict=True))
    assert 16 < sum(mirrored) < 48


def test_crop_flip_takes_windows_of_the_padded_image() -> None:
    image = torch.zeros(1, 1, 9, 9, dtype=torch.uint8)
    image[0, 0, 4, 4] = 255
    crops = AUGMENTATIONS.get("crop_flip")(image.expand(2_000, 1, 9, 9), seeded(0))
    places = {tuple(place) for place in crops[:, 0].nonzero()[:, 1:].tolist()}
    assert places == {(y, x) for y in range(9) for x in range(9)}


def test_affine_keeps_the_middle_near_the_middle() -> None:
    images = torch.zeros(256, 1, 28, 28, dtype=torch.uint8)
    images[:, :, 13:15, 13:15] = 255
    moved = AUGMENTATIONS.get("affine")(images, seeded(0))[:, 0]
    weight = moved.sum((1, 2))
    for axis in (1, 2):
        centre = (moved.sum(3 - axis) * torch.arange(28.0)).sum(1) / weight
        assert (centre - 13.5).abs().max() < 0.07 * 28 * 1.2
        assert centre.std() > 0.5


def test_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'crop_flip'"):
        AUGMENTATIONS.get("cropflip")
