"""Images that stay on disk, read and decoded by other processes ahead of the step that needs them.

The order is given, so the number of processes changes the pace and nothing else.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from datasets import Images

AHEAD = 4  # batches that each process keeps ready


class _Rows(Dataset[Tensor]):
    def __init__(self, images: Images) -> None:
        self.images = images

    def __getitem__(self, index: Tensor) -> Tensor:
        return self.images[index]


def batches_of(images: Images, order: Sequence[Tensor], loaders: int) -> Iterator[Tensor]:
    """The images of each index in turn; without `loaders`, and from memory, they are read here."""
    if isinstance(images, Tensor) or loaders == 0 or len(order) < 2:
        yield from (_pick(images, index) for index in order)
        return
    yield from DataLoader(
        _Rows(images),
        sampler=order,  # type: ignore[arg-type]  # each "index" is a whole batch's
        batch_size=None,
        num_workers=min(loaders, len(order)),
        prefetch_factor=AHEAD,
        generator=torch.Generator(),  # or it would draw from the generator of the whole process
    )


def _pick(images: Images, index: Tensor) -> Tensor:
    if isinstance(images, Tensor):
        return images.index_select(0, index.to(images.device))  # much faster than images[index]
    return images[index]
