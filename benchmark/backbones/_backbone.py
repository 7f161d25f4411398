"""The contract of every backbone: images in, embeddings out, a linear layer and BatchNorm1d at the end."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from benchmark.backbones import _registry
from benchmark.errors import InputError

ImageShape = tuple[int, int, int]


class Backbone(nn.Module):
    """B×C×H×W normalised floats to B×dim. A subclass with a `name` is registered and writes `trunk_for`.

    `pixel_mean` and `pixel_std` (0 to 255, one for each channel) belong to the weights: a saved net knows how its
    images have to be normalised.
    """

    name: ClassVar[str] = ""
    smallest: ClassVar[int] = 8
    """The fewest pixels that height and width may have."""
    default_dim: ClassVar[int] = 64
    normalised: ClassVar[bool] = True
    """Whether BatchNorm1d ends the net; a net rebuilt after one that has none says False."""

    pixel_mean: Tensor
    pixel_std: Tensor

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            _registry.register(cls)

    def __init__(self, image_shape: ImageShape, dim: int) -> None:
        super().__init__()
        self.check(image_shape)
        self.dim = dim
        self.trunk, features = self.trunk_for(image_shape)
        self.embedding = nn.Linear(features, dim, bias=not self.normalised)  # the normalisation has one of its own
        self.normalisation = nn.BatchNorm1d(dim) if self.normalised else nn.Identity()
        channels = image_shape[0]
        self.register_buffer("pixel_mean", torch.full((channels,), 127.5))
        self.register_buffer("pixel_std", torch.full((channels,), 127.5))

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        """All that comes before the last linear layer, and how many features it gives that layer."""
        raise TypeError(f"{cls.__name__} has no trunk")

    @classmethod
    def check(cls, image_shape: ImageShape) -> None:
        """`ValueError` for images that the net cannot take."""
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

    def normalise(self, images: Tensor) -> Tensor:
        """Pixels from 0 to 255 (uint8 or float) as `forward` takes them, in channels-last memory."""
        mean, std = self.pixel_mean[:, None, None], self.pixel_std[:, None, None]
        return images.to(torch.float32, memory_format=torch.channels_last).sub(mean).div_(std)
