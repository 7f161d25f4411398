"""Class sizes that fall exponentially, so that the largest class has `ratio` times the images of the smallest."""

import math
from dataclasses import replace

import numpy as np
import torch

from datasets._data import Data
from datasets._dataset import Size, Wrapper
from datasets._draws import Draws
from datasets._options import Real, Whole
from datasets._pairs import members_of


class LongTail(Wrapper):
    name = "longtail"
    summary = "training classes of exponentially falling size; validation and test stay as they are"
    example = {"ratio": 4.0}

    ratio = Real(100.0, "largest class size divided by the smallest", low=1.0, high=100_000.0)
    at_least = Whole(2, "images every class keeps, if it has them", low=1, high=1000)

    def resized(self, size: Size) -> Size:
        mean = 1.0 if self.ratio <= 1 else (1 - 1 / self.ratio) / math.log(self.ratio)  # of ratio^(−u), u from 0 to 1
        return replace(size, per_class=max(size.per_class * mean, self.at_least))

    def apply(self, data: Data, seed: int) -> Data:
        draws = Draws("longtail", seed)
        members = members_of(data.train.labels.numpy())
        sizes = np.array([len(images) for images in members])
        # Larger classes stay larger; the order of equal ones is random.
        lot = draws.permutation(len(members))
        order = lot[np.argsort(-sizes[lot], kind="stable")]
        kept = []
        for rank, which in enumerate(order):
            wanted = sizes.max() * self.ratio ** (-rank / max(len(order) - 1, 1))
            # The inner rounding removes differences in the last bit of the power.
            count = max(round(round(float(wanted), 6)), self.at_least)
            kept.append(members[which][draws.permutation(len(members[which]))[:count]])
        index = torch.from_numpy(np.sort(np.concatenate(kept)))
        counts = [len(images) for images in kept]
        notes = data.notes
        if max(counts) / min(counts) < 0.9 * self.ratio:
            reached = f"longtail: the ratio is {max(counts) / min(counts):.3g} instead of {self.ratio:g}"
            notes = (*notes, f"{reached}: classes have from {min(counts)} to {max(counts)} images")
        return replace(data, train=data.train.take(index), notes=notes)
