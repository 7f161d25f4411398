"""EMNIST: handwritten letters and digits."""

import string
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets._mnist_family import MnistFamily
from datasets._options import Choice
from datasets._torchvision import ensure_torchvision


class Emnist(MnistFamily):
    name = "emnist"
    summary = "handwritten letters and digits of 28×28 pixels: balanced (47 classes) or letters (26); closed"
    torchvision_name = "EMNIST"
    homepage = "https://www.nist.gov/itl/products-and-services/emnist-dataset (gzip.zip, unpacked)"

    part = Choice("balanced", "which of the published parts", among=("balanced", "letters"))

    def class_names(self) -> tuple[str, ...]:
        if self.part == "letters":
            return tuple(string.ascii_uppercase)
        # Letters whose two cases look alike are one class.
        return tuple(string.digits + string.ascii_uppercase + "abdefghnqrt")

    def per_class(self) -> int:
        return 4800 if self.part == "letters" else 2400

    def file(self, part: str, kind: str) -> str:
        return f"emnist-{self.part}-{part}-{kind}-ubyte"

    def fetch(self, root: Path) -> None:
        ensure_torchvision().datasets.EMNIST(str(root), split=self.part, download=True)

    def checksums(self) -> dict[str, str]:
        return {}  # only the archive that holds the files has an official one, torchvision checks it

    def relabel(self, labels: NDArray[np.uint8]) -> NDArray[np.int64]:
        return labels.astype(np.int64) - (1 if self.part == "letters" else 0)

    def upright(self, images: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return images.transpose(0, 2, 1)  # they are stored column by column
