"""Training a cell, and embedding images with what came out.

    from benchmark import training
    trained = training.train(cell, data)
    embeddings = training.embed(trained.backbone, data.test.images)

Batch order, augmentation and initial weights derive from the dataset, the backbone and the seed (`seeds`), never
from the loss: cells that differ in their loss alone are paired.
"""

from benchmark.training.embedding import embed
from benchmark.training.loop import Trained, check_device, train
