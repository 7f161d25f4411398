"""The training images as uint8, handed out in batches: gathered, augmented and normalised.

Every epoch has every image once. The batches of an epoch differ in size by at most one image and are never larger than
requested. So no image is dropped, and normalisation never gets a last batch of one image.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmark.recipe.augmentation import Augmentation
from benchmark.training.prefetch import batches_of
from benchmark.training.seeds import Seeds
from datasets import Images, Split

LOOKED_AT = 10_000  # images, evenly spaced, for the mean and the deviation
LARGEST_ON_DEVICE = 2**31  # bytes of images; larger sets stay in main memory instead of on the CUDA device


def batch_sizes(images: int, batch: int) -> list[int]:
    """The sizes of the batches of an epoch. Each has at least two images, even if that exceeds the requested size."""
    count = min(-(-images // batch), images // 2)
    least, larger = divmod(images, count)
    return [least + 1] * larger + [least] * (count - larger)


def pixel_statistics(images: Images) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each channel, 0 to 255; a channel of one colour gets the deviation 1."""
    count = len(images)
    looked_at = torch.arange(min(count, LOOKED_AT)) * count // min(count, LOOKED_AT)
    total, squares = torch.zeros(2, images.shape[1], dtype=torch.float64)
    pixels = 0
    for some in torch.split(looked_at, 1_000):
        values = images[some].contiguous().float()  # the order of sums must not depend on how images are stored
        total += values.sum((2, 3)).double().sum(0)
        squares += values.square_().sum((2, 3)).double().sum(0)
        pixels += values[:, 0].numel()
    mean = total / pixels
    variance = (squares / pixels - mean.square()).clamp_min(0.0)
    return mean.float(), torch.where(variance > 0.0, variance.sqrt(), 1.0).float()


class Batches:
    """Iterates over epochs. `normalise` writes images into the tensor that it is given, as a backbone's does. The next
    batch overwrites the buffer with the images of the last one."""

    def __init__(
        self,
        split: Split,
        batch: int,
        augment: Augmentation,
        normalise: Callable[[Tensor, Tensor], Tensor],
        seeds: Seeds,
        device: str,
        loaders: int = 0,
    ) -> None:
        self.sizes = batch_sizes(len(split), batch)
        self.augment, self.normalise = augment, normalise
        self.seeds, self.device, self.loaders = seeds, device, loaders
        self.images = split.images
        if isinstance(self.images, Tensor) and self.images.nbytes <= LARGEST_ON_DEVICE:
            self.images = self.images.to(device)
        self.labels = split.labels.to(device)
        shape = (max(self.sizes), *split.images.shape[1:])
        self.buffer = torch.empty(shape, device=device, memory_format=torch.channels_last)
        self.generator = torch.Generator()

    def __len__(self) -> int:
        """Steps in an epoch."""
        return len(self.sizes)

    def epoch(self, epoch: int, first: int = 0) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Images (normalised, channels-last), labels and sample numbers of each batch from the first one on."""
        order = torch.randperm(len(self.labels), generator=self.generator.manual_seed(self.seeds.order(epoch)))
        parts = torch.split(order, self.sizes)
        for step, picked in enumerate(batches_of(self.images, parts[first:], self.loaders), first):
            self.generator.manual_seed(self.seeds.augmentation(epoch, step))
            index = parts[step].to(self.device)
            augmented = self.augment(picked.to(self.device), self.generator)
            yield self.normalise(augmented, self.buffer[: len(index)]), self.labels[index], index
