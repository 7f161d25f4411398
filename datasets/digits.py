"""scikit-learn's handwritten digits: small, and always there."""

import numpy as np
import torch

from datasets._data import Data, Split
from datasets._dataset import Dataset, Size
from datasets._options import Real
from datasets._place import Place
from datasets._splits import closed_split, hold_out


class Digits(Dataset):
    name = "digits"
    summary = "1,797 handwritten digits of 8×8 pixels, with scikit-learn; closed"
    examples_may_be_shown = True

    test_share = Real(0.25, "share of each class's images held out for the test", low=0.1, high=0.5)
    val_share = Real(0.15, "share of each class's remaining images that validates", low=0.05, high=0.5)

    def training_size(self) -> Size:
        return Size(10, 179.7 * (1 - self.test_share) * (1 - self.val_share), 8 * 8)

    def build(self, place: Place, seed: int) -> Data:
        from sklearn.datasets import load_digits

        pixels, targets = load_digits(return_X_y=True)
        # The pixels are counts from 0 to 16.
        images = (pixels.reshape(-1, 1, 8, 8) * 255 // 16).astype(np.uint8)
        everything = Split(torch.from_numpy(images), torch.from_numpy(targets.astype(np.int64)), tuple("0123456789"))
        kept, held = hold_out(everything.labels, self.test_share, self.name, seed, "test")
        return closed_split(self.name, everything.take(kept), everything.take(held), self.val_share, seed)
