"""Embeddings of images by a trained backbone."""

import torch
from torch import Tensor

from benchmark.backbones import Backbone
from datasets import Images


@torch.no_grad()
def embed(backbone: Backbone, images: Images, device: str = "cpu", batch: int = 128) -> Tensor:
    """N×dim in float32 on the CPU: evaluation mode, no augmentation, full precision. After divergence the numbers may
    not be finite."""
    was_training = backbone.training
    backbone.to(device).eval()
    embeddings = torch.empty(len(images), backbone.dim)
    for chosen in torch.split(torch.arange(len(images)), batch):
        embeddings[chosen] = backbone(backbone.normalise(images[chosen].to(device))).cpu()
    backbone.train(was_training)
    return embeddings
