"""The contract of every backbone: images in, embeddings out, a linear layer and BatchNorm1d at the end.

A subclass of `Backbone` with a `name` is registered.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from benchmark.errors import InputError
from datasets._registry import Registry

ImageShape = tuple[int, int, int]
BACKBONES: Registry[type[Backbone]] = Registry("backbone", __package__, "marginbench.backbones")


class Backbone(nn.Module):
    """B×C×H×W normalised floats to B×dim. A subclass writes `trunk_for`.

    `pixel_mean`, `pixel_std` (0 to 255, one for each channel of the net's input) and `channel_order` belong to the
    weights: a saved net knows how its images have to be normalised.
    """

    name: ClassVar[str] = ""
    smallest: ClassVar[int] = 8
    """The smallest height and width in pixels."""
    images_per_second: ClassVar[float | None] = None
    """Roughly how many images of 28×28 pixels per second one core trains on; None if unknown."""
    default_dim: ClassVar[int] = 64
    normalised: ClassVar[bool] = True
    """Whether the net ends with BatchNorm1d; False for nets that were published without it."""

    pixel_mean: Tensor
    pixel_std: Tensor
    channel_order: Tensor | None
    """Which channel of an image becomes each channel of the net's input; None if they are the same."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            BACKBONES.add(cls.name, cls)

    def __init__(self, image_shape: ImageShape, dim: int) -> None:
        super().__init__()
        self.check(image_shape)
        self.dim = dim
        self.trunk, features = self.trunk_for(image_shape)
        self.embedding = nn.Linear(features, dim, bias=not self.normalised)  # the normalisation has its own bias
        self.normalisation = nn.BatchNorm1d(dim) if self.normalised else nn.Identity()
        channels = image_shape[0]
        self.register_buffer("pixel_mean", torch.full((channels,), 127.5))
        self.register_buffer("pixel_std", torch.full((channels,), 127.5))
        self.register_buffer("channel_order", None)  # not in the state: nets that were saved without it still load

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        """All layers before the last linear layer, and the number of features that they produce."""
        raise TypeError(f"{cls.__name__} has no trunk")

    @classmethod
    def check(cls, image_shape: ImageShape) -> None:
        """Raises `ValueError` for images that the net cannot process."""
        _, height, width = image_shape
        if min(height, width) < cls.smallest:
            raise InputError(
                f"{cls.name} needs images of at least {cls.smallest}×{cls.smallest} pixels, not {height}×{width}; "
                "use a smaller backbone such as convnet, or load the images at a larger size"
            )

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.trunk(images)
        embeddings: Tensor = self.normalisation(self.embedding(features.flatten(1)))
        return embeddings

    def normalise(self, images: Tensor, out: Tensor | None = None) -> Tensor:
        """Converts pixels from 0 to 255 (uint8 or float) to the input of `forward`, in channels-last memory, which is
        `out` if given."""
        if out is None:
            out = torch.empty_like(images, dtype=torch.float32, memory_format=torch.channels_last)
        ordered = images if self.channel_order is None else images[:, self.channel_order]
        return out.copy_(ordered).sub_(self.pixel_mean[:, None, None]).div_(self.pixel_std[:, None, None])

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        order = state_dict.get(f"{prefix}channel_order")
        self.channel_order = None if order is None else torch.empty_like(order, device=self.pixel_mean.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)


def names() -> list[str]:
    """The names of all backbones, sorted."""
    return BACKBONES.names()


def get(name: str) -> type[Backbone]:
    """The class of a backbone by name; `InputError` suggests similar names."""
    return BACKBONES.get(name)


def create(name: str, image_shape: ImageShape, dim: int | None = None, seed: int = 0) -> Backbone:
    """A new backbone whose initial weights depend only on `seed`; the global random state does not change.

    `dim` is the size of the embedding; the default is the backbone's own, usually 64.
    """
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
