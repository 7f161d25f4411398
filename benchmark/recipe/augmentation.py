"""Augmentations of a whole batch in memory.

A function takes B×C×H×W uint8 images and a generator, and returns images of the same shape, uint8 or float32 from 0 to
255. It draws random numbers on the CPU, so that they are the same for every device.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from datasets._registry import Registry

Augmentation = Callable[[Tensor, Generator], Tensor]
AUGMENTATIONS: Registry[Augmentation] = Registry("augmentation", __package__, "marginbench.augmentations")

SHIFT = 2
CROP_PADDING = 4
LARGEST_ROTATION = math.radians(10.0)
LARGEST_SCALING = 0.1
LARGEST_SHIFT = 0.07  # of the image's side


@AUGMENTATIONS.register
def none(images: Tensor, generator: Generator) -> Tensor:
    """No augmentation."""
    return images


@AUGMENTATIONS.register
def shift(images: Tensor, generator: Generator) -> Tensor:
    """Shifts by up to two pixels; the border is repeated."""
    return _windows(_with_border_repeated(images, SHIFT), images.shape, generator)


@AUGMENTATIONS.register
def affine(images: Tensor, generator: Generator) -> Tensor:
    """Rotates by up to 10°, scales by up to 10 % and shifts by up to 7 %; the border is repeated."""
    draws = torch.rand(4, len(images), generator=generator).mul_(2.0).sub_(1.0)
    angle, scale = draws[0] * LARGEST_ROTATION, 1.0 + draws[1] * LARGEST_SCALING
    cosine, sine = angle.cos() * scale, angle.sin() * scale
    moves = draws[2:] * 2.0 * LARGEST_SHIFT  # grid coordinates go from −1 to 1
    maps = torch.stack([cosine, -sine, moves[0], sine, cosine, moves[1]], dim=1).view(-1, 2, 3)
    grid = F.affine_grid(maps.to(images.device), list(images.shape), align_corners=False)
    return F.grid_sample(images.float(), grid, padding_mode="border", align_corners=False)


@AUGMENTATIONS.register
def flip(images: Tensor, generator: Generator) -> Tensor:
    """Mirrors each image left to right with probability 1/2."""
    chosen = (torch.rand(len(images), generator=generator) < 0.5).nonzero()[:, 0].to(images.device)
    return images.index_copy(0, chosen, images.index_select(0, chosen).flip(3))


@AUGMENTATIONS.register
def crop_flip(images: Tensor, generator: Generator) -> Tensor:
    """Pads each image with four black pixels, crops it at random, then applies `flip`."""
    padded = F.pad(images, (CROP_PADDING,) * 4)
    return flip(_windows(padded, images.shape, generator), generator)


def _with_border_repeated(images: Tensor, by: int) -> Tensor:
    padded = F.pad(images, (by,) * 4)
    padded[:, :, by:-by, :by] = images[:, :, :, :1]
    padded[:, :, by:-by, -by:] = images[:, :, :, -1:]
    padded[:, :, :by] = padded[:, :, by : by + 1]
    padded[:, :, -by:] = padded[:, :, -by - 1 : -by]
    return padded


def _windows(padded: Tensor, shape: torch.Size, generator: Generator) -> Tensor:
    """Cuts from each padded image a window of the given shape, at its own place."""
    count, _, height, width = shape
    windows = padded.unfold(2, height, 1).unfold(3, width, 1)
    places = windows.shape[2] * windows.shape[3]
    place = torch.randint(places, (count,), generator=generator).to(padded.device)
    which = torch.arange(count, device=padded.device)
    return windows[which, :, place // windows.shape[3], place % windows.shape[3]]
