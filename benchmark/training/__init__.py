"""Trains a cell, and embeds images with the trained backbone.

    from benchmark import training
    trained = training.train(cell, data)
    embeddings = training.embed(trained.backbone, data.test.images)

Batch order, augmentation and initial weights depend on the dataset, the backbone and the seed (`seeds`), never on the
loss: cells that differ only in their loss are paired.
"""

from benchmark.training.embedding import embed
from benchmark.training.loop import Trained, check_device, train
