"""A small, quick net for 8 to 32 pixels."""

from torch import nn

from benchmark.backbones import Backbone, ImageShape

CHANNELS = (16, 32, 64)


class ConvNet(Backbone):
    """Three blocks of 3×3 convolution, normalisation and ReLU. The first halves the image by its stride, the
    others by pooling; what is left keeps its place (no global pooling), as glyphs and digits are centred."""

    name = "convnet"

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        before, height, width = image_shape
        layers: list[nn.Module] = []
        for depth, channels in enumerate(CHANNELS):
            layers += [
                nn.Conv2d(before, channels, 3, stride=2 if depth == 0 else 1, padding=1, bias=False),
                nn.BatchNorm2d(channels),
            ]
            if depth > 0:
                layers.append(nn.MaxPool2d(2, ceil_mode=True))  # before ReLU: the same numbers, a quarter of the work
            layers.append(nn.ReLU(inplace=True))
            before, height, width = channels, (height + 1) // 2, (width + 1) // 2
        return nn.Sequential(*layers), before * height * width
