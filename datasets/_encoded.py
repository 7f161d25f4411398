"""Images that stay encoded on disk and are decoded when they are asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from datasets._draws import Whole
from datasets._errors import InputError
from datasets._jpeg import decode_into, decoder
from datasets._source import Source


class EncodedImages:
    """Indexed like a uint8 tensor, N×C×H×W. Can be pickled, so that several processes decode batches.

    In memory a batch is channels-last, as decoders write it and as training wants it.

    They are known by index, record headers, sizes and labels, since a pass over all pixels takes minutes.
    """

    dtype = torch.uint8

    def __init__(self, source: Source, size: int, channels: int, index: Whole | None = None) -> None:
        self._source, self._shape = source, (channels, size, size)
        self._index = np.arange(len(source)) if index is None else index

    @property
    def shape(self) -> torch.Size:
        return torch.Size((len(self._index), *self._shape))

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, index: Tensor | slice | int) -> Tensor:
        which = self._index[index.numpy() if isinstance(index, Tensor) else index]
        channels, size, _ = self._shape
        pixels = np.empty((which.size, size, size, channels), dtype=np.uint8)
        source = self._source
        for place, number in enumerate(which.reshape(-1).tolist()):
            try:
                decode_into(pixels[place], source.read(number))
            except InputError as error:
                raise InputError(
                    f"{source.where(number)}: it is not a readable image: {error}; remove it from the set"
                ) from error
        images = torch.from_numpy(pixels).permute(0, 3, 1, 2)
        return images if which.ndim else images[0]

    def rows(self, index: Tensor) -> EncodedImages:
        return EncodedImages(self._source, self._shape[1], self._shape[0], self._index[index.numpy()])

    def hashes(self) -> Iterator[bytes]:
        yield hashlib.sha256(f"{self._source.fingerprint()} {decoder().mark}".encode()).digest()
        yield np.ascontiguousarray(self._index, dtype="<i8").tobytes()
