"""The 20-layer net of SphereFace, made for faces of 112×96 pixels (arXiv:1704.08063)."""

from torch import Tensor, nn

from benchmark.backbones import Backbone, ImageShape

CHANNELS = (64, 128, 256, 512)
BLOCKS = (1, 2, 4, 1)


class SphereBlock(nn.Module):
    """Two 3×3 convolutions with PReLU, added to the input; no normalisation."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(2):
            convolution = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            nn.init.normal_(convolution.weight, std=0.01)
            layers += [convolution, nn.PReLU(channels)]
        self.inner = nn.Sequential(*layers)

    def forward(self, images: Tensor) -> Tensor:
        total: Tensor = images + self.inner(images)
        return total


class Sphere20(Backbone):
    """Four stages, each a convolution of stride 2 and its residual blocks; the last layer sees all positions."""

    name = "sphere20"
    images_per_second = 150.0  # guessed from its size
    smallest = 16
    normalised = False

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        before, height, width = image_shape
        layers: list[nn.Module] = []
        for channels, blocks in zip(CHANNELS, BLOCKS, strict=True):
            convolution = nn.Conv2d(before, channels, 3, stride=2, padding=1)
            nn.init.xavier_uniform_(convolution.weight)
            assert convolution.bias is not None
            nn.init.zeros_(convolution.bias)
            layers += [convolution, nn.PReLU(channels), *(SphereBlock(channels) for _ in range(blocks))]
            before, height, width = channels, (height + 1) // 2, (width + 1) // 2
        return nn.Sequential(*layers), before * height * width
