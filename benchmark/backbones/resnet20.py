"""The thin residual net of 20 layers for small images."""

import torch.nn.functional as F
from torch import Tensor, nn

from benchmark.backbones import Backbone, ImageShape

CHANNELS = (16, 32, 64)
BLOCKS = 3


class ResNet20Block(nn.Module):
    """Two 3×3 convolutions; the shortcut has no parameters: it skips pixels and adds empty channels."""

    def __init__(self, before: int, channels: int, stride: int) -> None:
        super().__init__()
        self.stride, self.new_channels = stride, channels - before
        self.first = nn.Conv2d(before, channels, 3, stride=stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)

    def forward(self, images: Tensor) -> Tensor:
        inner = F.relu(self.first_norm(self.first(images)))
        inner = self.second_norm(self.second(inner))
        if self.new_channels:
            images = F.pad(images[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.new_channels))
        return F.relu(inner + images)


class ResNet20(Backbone):
    """Three stages of three residual blocks with 16, 32 and 64 channels, as for CIFAR (arXiv:1512.03385)."""

    name = "resnet20"
    images_per_second = 350.0  # guessed from its size

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        before = CHANNELS[0]
        layers: list[nn.Module] = [
            nn.Conv2d(image_shape[0], before, 3, padding=1, bias=False),
            nn.BatchNorm2d(before),
            nn.ReLU(inplace=True),
        ]
        for channels in CHANNELS:
            for _ in range(BLOCKS):
                layers.append(ResNet20Block(before, channels, stride=1 if channels == before else 2))
                before = channels
        for layer in (inner for outer in layers for inner in outer.modules()):
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1)), before
