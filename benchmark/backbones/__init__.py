"""Backbones behind one contract: B×C×H×W images to B×dim embeddings.

    from benchmark import backbones
    net = backbones.create("convnet", image_shape=(1, 28, 28), dim=64, seed=0)

Every file in this folder adds a backbone.
"""

from benchmark.backbones._backbone import Backbone, ImageShape, create, get, names
