"""Embeddings of images by a trained backbone."""

import torch
from torch import Tensor

from benchmark.backbones import Backbone
from benchmark.training.prefetch import batches_of
from datasets import Images


@torch.no_grad()
def embed(
    backbone: Backbone, images: Images, device: str = "cpu", batch: int = 128, loaders: int = 0, flip: bool = False
) -> Tensor:
    """N×dim in float32 on the CPU: evaluation mode, no augmentation, full precision. After divergence the numbers may
    not be finite. With `flip`, the sum of the embeddings of an image and of its mirror image."""
    was_training = backbone.training
    backbone.to(device).eval()
    embeddings = torch.empty(len(images), backbone.dim)
    order = torch.split(torch.arange(len(images)), batch)
    for chosen, picked in zip(order, batches_of(images, order, loaders), strict=True):
        ready = backbone.normalise(picked.to(device))
        embeddings[chosen] = (backbone(ready) + backbone(ready.flip(3)) if flip else backbone(ready)).cpu()
    backbone.train(was_training)
    return embeddings
