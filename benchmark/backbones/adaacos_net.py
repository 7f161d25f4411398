"""The small net of AdaAcos's demonstration, whose embedding has three dimensions."""

from torch import nn

from benchmark.backbones import Backbone, ImageShape
from benchmark.backbones._dropout import SeededDropout

CHANNELS = (32, 64, 128, 256)
DROPPED = 0.2


class AdaAcosNet(Backbone):
    """Four 3×3 convolutions of stride 2 with leaky ReLU, global average pooling, dropout, and a linear layer alone."""

    name = "adaacos_net"
    images_per_second = 1300.0
    default_dim = 3
    normalised = False

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        before, *_ = image_shape
        layers: list[nn.Module] = []
        for channels in CHANNELS:
            layers += [nn.Conv2d(before, channels, 3, stride=2, padding=1), nn.LeakyReLU(inplace=True)]
            before = channels
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), SeededDropout(DROPPED)), before
