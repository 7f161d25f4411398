"""Omniglot: characters of fifty alphabets, each drawn by twenty people."""

import hashlib
import io
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from datasets._archive import read_archive
from datasets._cache import Arrays, cached
from datasets._data import Data, Split
from datasets._dataset import Dataset, Size
from datasets._draws import Draws
from datasets._draws import Whole as Wholes
from datasets._errors import InputError, missing
from datasets._options import Choice, Flag, Real, Whole
from datasets._place import Place
from datasets._splits import closed_split, hold_out, open_split
from datasets._torchvision import ensure_torchvision

PARTS = ("images_background", "images_evaluation")
SIDE = 105
MOST_MEMBERS, MOST_BYTES = 50_000, 1 << 16
VERSION = 1


class Omniglot(Dataset):
    name = "omniglot"
    summary = "1,623 handwritten characters of 50 alphabets, 20 images each; open (new alphabets) or closed"
    examples_may_be_shown = True

    protocol = Choice("open", "open: test on other alphabets; closed: 80/20", among=("open", "closed"))
    size = Whole(28, "height and width in pixels, resized from 105", low=14, high=2 * SIDE)
    val_share = Real(0.2, "share of the training alphabets (closed: images) that validates", low=0.05, high=0.5)
    download = Flag(False, "fetch what is missing into root, with torchvision's downloader", incidental=True)

    def training_size(self) -> Size:
        kept, pixels = 1 - self.val_share, self.size**2
        return Size(1623, 16 * kept, pixels) if self.protocol == "closed" else Size(round(964 * kept), 20, pixels)

    def build(self, place: Place, seed: int) -> Data:
        everything = self._read(place)
        if self.protocol == "closed":
            kept, held = hold_out(everything.labels, 0.2, self.name, seed, "test")
            train, test = everything.take(kept), everything.take(held)
            return closed_split(self.name, train, test, self.val_share, seed)
        return open_split(self.name, everything, self._identities(everything.names, seed), seed)

    def _identities(self, names: tuple[str, ...], seed: int) -> dict[str, Wholes]:
        """Whole background alphabets are for validation, and not for training."""
        alphabet = ["/".join(name.split("/")[:2]) for name in names]
        background = sorted({one for one in alphabet if one.startswith(PARTS[0])})
        if len(background) < 2:
            raise InputError(f"omniglot: expected at least 2 background alphabets, got {len(background)}")
        count = max(round(len(background) * self.val_share), 1)
        val = {background[n] for n in Draws("alphabets", seed).permutation(len(background))[:count]}
        part = ["val" if one in val else "train" if one.startswith(PARTS[0]) else "test" for one in alphabet]
        return {kind: np.flatnonzero([one == kind for one in part]) for kind in ("train", "val", "test")}

    def _read(self, place: Place) -> Split:
        source = self._source(place.root)
        mark = hashlib.sha256(f"{source.resolve()} {source.stat().st_mtime_ns}".encode()).hexdigest()[:12]
        file = place.cache / f"omniglot-v{VERSION}-{self.size}px-{mark}.safetensors"
        arrays = cached(file, lambda: _decode(source, self.size))
        names = tuple(arrays["names"].tobytes().decode().split("\n"))
        return Split(torch.from_numpy(arrays["images"])[:, None], torch.from_numpy(arrays["labels"]), names)

    def _source(self, root: Path) -> Path:
        """torchvision's folder, or an archive of the two parts."""
        folder, archive = root / "omniglot-py", root / "omniglot" / "omniglot.tar.xz"
        if self.download and not (_complete(folder) or archive.is_file()):
            for background in (True, False):
                ensure_torchvision().datasets.Omniglot(str(root), background=background, download=True)
        if _complete(folder):
            return folder
        if archive.is_file():
            return archive
        files = [*(f"omniglot-py/{part}" for part in PARTS), "omniglot/omniglot.tar.xz"]
        raise missing(self.name, files, [root], "https://github.com/brendenlake/omniglot")


def _complete(folder: Path) -> bool:
    return all((folder / part).is_dir() for part in PARTS)


def _decode(source: Path, size: int) -> Arrays:
    """Images sorted by class, then by file name."""
    found: dict[str, list[tuple[str, NDArray[np.uint8]]]] = {}
    for path, content in _files(source):
        if path.suffix == ".png" and len(path.parts) == 4 and path.parts[0] in PARTS:
            found.setdefault("/".join(path.parts[:3]), []).append((path.name, _shrink(content, path, size)))
    if not found:
        raise InputError(f"{source} has no file part/alphabet/character/image.png")
    names = sorted(found)
    images = [image for name in names for _, image in sorted(found[name], key=lambda named: named[0])]
    labels = np.repeat(np.arange(len(names)), [len(found[name]) for name in names])
    joined = np.frombuffer("\n".join(names).encode(), dtype=np.uint8)
    return {"images": np.stack(images), "labels": labels.astype(np.int64), "names": joined}


def _files(source: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    if source.is_file():
        yield from read_archive(source, most_members=MOST_MEMBERS, most_bytes=MOST_BYTES)
        return
    for path in sorted(source.glob("images_*/*/*/*.png")):
        if path.stat().st_size <= MOST_BYTES and path.resolve().is_relative_to(source.resolve()):
            yield PurePosixPath(path.relative_to(source).as_posix()), path.read_bytes()


def _shrink(content: bytes, path: PurePosixPath, size: int) -> NDArray[np.uint8]:
    """White ink on black; each pixel is the mean of the area that it covers."""
    try:
        image = Image.open(io.BytesIO(content), formats=["PNG"])
        if image.size != (SIDE, SIDE):
            raise InputError(f"omniglot: {path} has {image.size} pixels; expected {SIDE}×{SIDE}")
        ink = 255 - np.asarray(image.convert("L"))
    except InputError:
        raise
    except Exception as error:  # a decoder of a damaged file may raise anything
        raise InputError(f"omniglot: {path} cannot be read as an image: {error}") from error
    return mean_of_areas(ink, size)


def mean_of_areas(image: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Resizes by area. It is exact in any order of summation: sums are whole numbers below 2^24, exact in float32."""
    side = len(image)
    overlap = _overlaps(side, size)
    sums: Wholes = (overlap @ image.astype(np.float32) @ overlap.T).astype(np.int64)
    return ((2 * sums + side * side) // (2 * side * side)).astype(np.uint8)


@lru_cache(maxsize=4)
def _overlaps(side: int, size: int) -> NDArray[np.float32]:
    """How much of each new pixel each old one covers, in 1/size of an old pixel; size×side."""
    new, old = np.arange(size)[:, None] * side, np.arange(side)[None] * size
    shared: Wholes = np.minimum(new + side, old + size) - np.maximum(new, old)
    return np.maximum(shared, 0).astype(np.float32)
