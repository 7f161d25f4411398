"""A net with a two-dimensional embedding, to draw the geometry that a loss produces."""

from torch import nn

from benchmark.backbones import Backbone, ImageShape

CHANNELS = (16, 32, 64)


class LeNet2d(Backbone):
    """Three blocks of 5×5 convolution, pooling, normalisation and PReLU. `dim` is 2 by default; 3 is for spheres."""

    name = "lenet2d"
    images_per_second = 1500.0  # guessed from its size
    default_dim = 2

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        before, height, width = image_shape
        layers: list[nn.Module] = []
        for channels in CHANNELS:
            layers += [
                nn.Conv2d(before, channels, 5, padding=2, bias=False),
                nn.MaxPool2d(2),
                nn.BatchNorm2d(channels),
                nn.PReLU(channels),
            ]
            before, height, width = channels, height // 2, width // 2
        return nn.Sequential(*layers), before * height * width
