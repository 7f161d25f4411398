"""Making a backbone whose initial weights depend on its seed alone."""

import torch

from benchmark.backbones._backbone import Backbone, ImageShape
from benchmark.backbones._registry import get
from benchmark.errors import InputError


def create(name: str, image_shape: ImageShape, dim: int | None = None, seed: int = 0) -> Backbone:
    """A new backbone; `dim` is the embedding's size (default: 64, for lenet2d 2). The global random state stays."""
    backbone = get(name)
    dim = backbone.default_dim if dim is None else dim
    _check_whole("dim", dim, 1)
    _check_whole("seed", seed, 0)
    if len(image_shape) != 3:
        raise InputError(f"image_shape={image_shape!r} is not allowed; expected (channels, height, width)")
    for what, size in zip(("channels", "height", "width"), image_shape, strict=True):
        _check_whole(f"image_shape's {what}", size, 1)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return backbone(image_shape, dim)


def _check_whole(what: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{what}={value!r} is not allowed; expected an integer ≥ {least}")
