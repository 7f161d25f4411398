"""What MNIST, Fashion-MNIST, KMNIST and EMNIST share: a closed protocol and IDX files, read as untrusted input."""

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from datasets._archive import check_md5
from datasets._data import Data, Split
from datasets._dataset import Dataset, Size
from datasets._errors import InputError, missing
from datasets._options import Flag, Real
from datasets._place import Place
from datasets._splits import closed_split
from datasets._torchvision import ensure_torchvision

MOST_BYTES = 1 << 28  # EMNIST letters, the largest of the family, has 98 MB
UNSIGNED_BYTE = 0x08


def read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """The array of an IDX file of unsigned bytes, packed (.gz) or not."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            return parse_idx(file, dimensions)  # type: ignore[arg-type]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a complete gzip file: {error}; remove it and get it again") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}; remove it and get it again") from None


def parse_idx(file: IO[bytes], dimensions: int) -> NDArray[np.uint8]:
    """Header and sizes are checked before anything of the announced size is allocated."""
    header = file.read(4 + 4 * dimensions)
    if len(header) < 4 + 4 * dimensions:
        raise InputError(f"expected an IDX header of {4 + 4 * dimensions} bytes, got {len(header)}")
    zero, kind, depth = struct.unpack(">HBB", header[:4])
    if zero != 0 or kind != UNSIGNED_BYTE or depth != dimensions:
        raise InputError(f"expected an IDX header for bytes in {dimensions} dimension(s), got {header[:4].hex()}")
    shape = struct.unpack(f">{dimensions}I", header[4:])
    size = math.prod(shape)
    if not 0 < size <= MOST_BYTES:
        raise InputError(f"the IDX header announces {shape}: {size} bytes; expected 1 to {MOST_BYTES}")
    content = file.read(size + 1)
    if len(content) != size:
        came = f"{len(content)}" if len(content) < size else f"more than {size}"
        raise InputError(f"the IDX header announces {size} bytes, got {came}")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape).copy()


class MnistFamily(Dataset):
    """A subclass names the files, and folders beside root in which they may be."""

    torchvision_name: ClassVar[str]
    homepage: ClassVar[str]
    examples_may_be_shown = True

    val_share = Real(0.1, "share of each class's training images that validates", low=0.01, high=0.5)
    download = Flag(False, "fetch what is missing into root, with torchvision's downloader", incidental=True)

    def per_class(self) -> int:
        """Training images of a class, including those for validation."""
        return 6000

    def training_size(self) -> Size:
        return Size(len(self.class_names()), self.per_class() * (1 - self.val_share), 28 * 28)

    def class_names(self) -> tuple[str, ...]:
        return tuple("0123456789")

    def file(self, part: str, kind: str) -> str:
        prefix = {"train": "train", "test": "t10k"}[part]
        return f"{prefix}-{kind}-ubyte"

    def elsewhere(self) -> tuple[Path, ...]:
        """Folders of other software, such as system packages, that may have the files."""
        return ()

    def fetch(self, root: Path) -> None:
        getattr(ensure_torchvision().datasets, self.torchvision_name)(str(root), download=True)

    def checksums(self) -> dict[str, str]:
        """Official MD5 checksums of the packed files, from torchvision."""
        kind: Any = getattr(ensure_torchvision().datasets, self.torchvision_name)
        return dict(kind.resources)

    def build(self, place: Place, seed: int) -> Data:
        own = place.root / self.torchvision_name / "raw"
        folders = (own, *self.elsewhere())
        if self.download and self._folder(folders) is None:
            self.fetch(place.root)
        folder = self._folder(folders)
        if folder is None:
            files = [f"{self.file(part, kind)}[.gz]" for part, kind in self._parts()]
            raise missing(self.name, files, folders, self.homepage)
        if folder == own:  # system packages compress the files again, so their checksums differ
            for name, official in self.checksums().items():
                if (folder / name).is_file():
                    check_md5(folder / name, official)
        train, test = self._read(folder, "train"), self._read(folder, "test")
        return closed_split(self.name, train, test, self.val_share, seed)

    def _parts(self) -> list[tuple[str, str]]:
        return [(part, kind) for part in ("train", "test") for kind in ("images-idx3", "labels-idx1")]

    def _folder(self, folders: tuple[Path, ...]) -> Path | None:
        """The first folder that has all four files."""
        for folder in folders:
            if all(self._path(folder, part, kind) is not None for part, kind in self._parts()):
                return folder
        return None

    def _path(self, folder: Path, part: str, kind: str) -> Path | None:
        name = self.file(part, kind)
        return next((path for path in (folder / f"{name}.gz", folder / name) if path.is_file()), None)

    def _read(self, folder: Path, part: str) -> Split:
        images_file, labels_file = (self._path(folder, part, kind) for kind in ("images-idx3", "labels-idx1"))
        assert images_file is not None
        assert labels_file is not None
        images, labels = read_idx(images_file, 3), self.relabel(read_idx(labels_file, 1))
        _check_together(images_file, images, labels_file, labels, len(self.class_names()))
        upright = np.ascontiguousarray(self.upright(images))
        return Split(torch.from_numpy(upright)[:, None], torch.from_numpy(labels), self.class_names())

    def relabel(self, labels: NDArray[np.uint8]) -> NDArray[np.int64]:
        return labels.astype(np.int64)

    def upright(self, images: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return images


def _check_together(
    images_file: Path, images: NDArray[Any], labels_file: Path, labels: NDArray[Any], classes: int
) -> None:
    if images.shape[1:] != (28, 28):
        raise InputError(f"{images_file}: expected images of 28×28 pixels, got {images.shape[1:]}")
    if len(images) != len(labels):
        raise InputError(f"{images_file} has {len(images)} images, but {labels_file} has {len(labels)} labels")
    if labels.min() < 0 or labels.max() >= classes:
        raise InputError(
            f"{labels_file}: expected labels from 0 to {classes - 1}, got {labels.min()} to {labels.max()}"
        )
