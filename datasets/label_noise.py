"""A share of the training labels replaced by other classes, drawn uniformly."""

from dataclasses import replace

import numpy as np
import torch

from datasets._data import Data
from datasets._dataset import Size, Wrapper
from datasets._draws import Draws
from datasets._errors import InputError
from datasets._options import Real


class LabelNoise(Wrapper):
    name = "label_noise"
    summary = "a share of the training labels made wrong; `train.noisy` says which, validation and test stay right"

    share = Real(0.2, "share of the training labels that are replaced", low=0.0, high=0.9)

    def resized(self, size: Size) -> Size:
        return size

    def apply(self, data: Data, seed: int) -> Data:
        if data.num_classes < 2:
            raise InputError(f"label_noise: expected at least 2 classes, got {data.num_classes}")
        draws = Draws("label_noise", seed)
        labels = data.train.labels.clone()
        order = draws.permutation(len(labels))
        # The first image of each class keeps its label: no class is left without one.
        _, first = np.unique(labels.numpy()[order], return_index=True)
        order = np.delete(order, first)
        count = round(self.share * len(labels))
        changed = torch.from_numpy(order[:count])
        shift = torch.from_numpy(1 + draws.below(data.num_classes - 1, len(changed)))
        labels[changed] = (labels[changed] + shift) % data.num_classes
        train = replace(data.train, labels=labels, before_noise=data.train.clean_labels)
        notes = data.notes
        if len(changed) < count:
            notes = (
                *notes,
                f"label_noise: only {len(changed)} of {count} labels could be changed, because classes are small",
            )
        return replace(data, train=train, notes=notes)
