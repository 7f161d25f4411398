"""torchvision's ResNet-18 and vision transformer, with stems for small images."""

from torch import nn

from benchmark.backbones import Backbone, ImageShape
from benchmark.errors import InputError
from datasets._torchvision import ensure_torchvision


class ResNet18(Backbone):
    """torchvision's resnet18; a 3×3 convolution without stride or pooling replaces the stem."""

    name = "resnet18"
    images_per_second = 40.0  # guessed from its size

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        net = ensure_torchvision().models.resnet18(weights=None)
        net.conv1 = nn.Conv2d(image_shape[0], 64, 3, padding=1, bias=False)
        nn.init.kaiming_normal_(net.conv1.weight, mode="fan_out", nonlinearity="relu")
        net.maxpool = nn.Identity()
        features = net.fc.in_features
        net.fc = nn.Identity()
        return net, features


WIDTH, LAYERS, HEADS = 192, 12, 3
WANTED_PATCHES, FEWEST_PATCHES, MOST_PATCHES = 8, 4, 16


class ViTTiny(Backbone):
    """torchvision's vision transformer at the "tiny" size (192 wide, 12 layers, 3 heads). The patch is chosen so
    that about 8 lie along each side: 2 pixels for images of 16, 4 for 28 or 32, 14 for 112."""

    name = "vit_tiny"
    images_per_second = 150.0  # guessed from its size

    @classmethod
    def check(cls, image_shape: ImageShape) -> None:
        super().check(image_shape)
        _, height, width = image_shape
        if height != width:
            raise InputError(f"vit_tiny needs square images, not {height}×{width}; crop or pad them to a square")
        patch_size(height)

    @classmethod
    def trunk_for(cls, image_shape: ImageShape) -> tuple[nn.Module, int]:
        channels, side, _ = image_shape
        patch = patch_size(side)
        transformer = ensure_torchvision().models.vision_transformer.VisionTransformer
        net = transformer(side, patch, num_layers=LAYERS, num_heads=HEADS, hidden_dim=WIDTH, mlp_dim=4 * WIDTH)
        net.conv_proj = nn.Conv2d(channels, WIDTH, patch, stride=patch)
        nn.init.trunc_normal_(net.conv_proj.weight, std=(channels * patch**2) ** -0.5)
        nn.init.zeros_(net.conv_proj.bias)
        net.heads = nn.Identity()
        return net, WIDTH


def patch_size(side: int) -> int:
    """The patch size that divides the side into the number of parts closest to 8."""
    divisors = [patch for patch in range(1, side + 1) if side % patch == 0]
    allowed = [patch for patch in divisors if FEWEST_PATCHES <= side // patch <= MOST_PATCHES]
    if not allowed:
        raise InputError(
            f"vit_tiny cannot divide {side} pixels into {FEWEST_PATCHES} to {MOST_PATCHES} equal patches; "
            "use a side such as 28, 32, 64 or 112"
        )
    return min(allowed, key=lambda patch: abs(side // patch - WANTED_PATCHES))
