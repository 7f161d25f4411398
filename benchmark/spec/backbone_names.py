"""Which backbones an experiment file may name."""

NAMES = ("convnet", "lenet2d", "resnet20", "resnet18", "vit_tiny", "iresnet18", "iresnet50")
