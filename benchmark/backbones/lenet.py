"""A net whose embedding has two dimensions, to draw the geometry that a loss makes."""

from torch import nn

from benchmark.backbones import Backbone, ImageShape

CHANNELS = (32, 64, 128)


class LeNet2d(Backbone):
    """5×5 convolutions with PReLU and pooling. `dim` is 2 by default, 3 for pictures on the sphere."""

    name = "lenet2d"
    default_dim = 2

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        before, height, width = image_shape
        layers: list[nn.Module] = []
        for channels in CHANNELS:
            layers += [
                nn.Conv2d(before, channels, 5, padding=2, bias=False),
                nn.BatchNorm2d(channels),
                nn.PReLU(channels),
                nn.MaxPool2d(2),
            ]
            before, height, width = channels, height // 2, width // 2
        return nn.Sequential(*layers), before * height * width
