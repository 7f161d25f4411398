"""Residual nets in the style of face recognition, made for 112 pixels (arXiv:1801.07698)."""

from typing import ClassVar

from torch import Tensor, nn

from benchmark.backbones import Backbone, ImageShape

CHANNELS = (64, 128, 256, 512)


def convolution(before: int, channels: int, size: int = 3, stride: int = 1) -> nn.Conv2d:
    layer = nn.Conv2d(before, channels, size, stride=stride, padding=size // 2, bias=False)
    nn.init.normal_(layer.weight, std=0.1)
    return layer


class IResNetBlock(nn.Module):
    """Normalisation, convolution, normalisation, PReLU, convolution, normalisation, and no ReLU after the sum."""

    def __init__(self, before: int, channels: int, stride: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.BatchNorm2d(before),
            convolution(before, channels),
            nn.BatchNorm2d(channels),
            nn.PReLU(channels),
            convolution(channels, channels, stride=stride),
            nn.BatchNorm2d(channels),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or before != channels:
            self.shortcut = nn.Sequential(convolution(before, channels, 1, stride), nn.BatchNorm2d(channels))

    def forward(self, images: Tensor) -> Tensor:
        total: Tensor = self.inner(images) + self.shortcut(images)
        return total


class IResNet18(Backbone):
    """Four stages of two blocks, each stage halving the image; the last linear layer sees all positions."""

    name = "iresnet18"
    images_per_second = 40.0  # guessed from its size
    smallest = 32
    blocks: ClassVar[tuple[int, ...]] = (2, 2, 2, 2)

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        before, height, width = image_shape
        layers: list[nn.Module] = [convolution(before, CHANNELS[0]), nn.BatchNorm2d(CHANNELS[0]), nn.PReLU(CHANNELS[0])]
        before = CHANNELS[0]
        for channels, blocks in zip(CHANNELS, cls.blocks, strict=True):
            for block in range(blocks):
                layers.append(IResNetBlock(before, channels, stride=2 if block == 0 else 1))
                before = channels
            height, width = (height + 1) // 2, (width + 1) // 2
        return nn.Sequential(*layers, nn.BatchNorm2d(before)), before * height * width


class IResNet50(IResNet18):
    """Stages of 3, 4, 14 and 3 blocks."""

    name = "iresnet50"
    images_per_second = 15.0  # guessed from its size
    blocks = (3, 4, 14, 3)


class IResNet100(IResNet18):
    """Stages of 3, 13, 30 and 3 blocks."""

    name = "iresnet100"
    images_per_second = 8.0  # guessed from its size
    blocks = (3, 13, 30, 3)
