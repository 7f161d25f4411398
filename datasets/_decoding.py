"""Decodes a tree of images, class/image.png, once into one file of pixels, which is read or memory-mapped."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps
from torch import Tensor

from datasets._cache import cached, read_arrays
from datasets._errors import InputError, MissingDataError
from datasets._files import whole_file

SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}


@dataclass(frozen=True)
class Tree:
    """Images sorted by class and file name; `paths` are relative to `root`, with slashes."""

    root: Path
    paths: tuple[str, ...]

    def stamp(self) -> str:
        """Changes whenever a file is added, removed, written or renamed."""
        stats = ((path, (self.root / path).stat()) for path in self.paths)
        return "\n".join(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)


def scan_tree(root: Path) -> Tree:
    if not root.is_dir():
        raise MissingDataError(
            f"folder: there is no folder {root.absolute()}. Expected one subfolder per class with its images: "
            "CLASS/IMAGE.png.\nTo name the folder, write in the experiment file\n    datasets:\n"
            "      - folder: {path: my-images}\nIt is relative to --data DIR or MARGINBENCH_DATA, in Python to root="
        )
    inside = root.resolve()
    paths = []
    for folder in sorted(entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
        for file in sorted(folder.iterdir()):
            if file.suffix.lower() not in SUFFIXES or file.name.startswith("."):
                continue
            if not file.resolve().is_relative_to(inside):
                raise InputError(f"folder: {file} is a link to a file outside of {root}; copy the image instead")
            if file.is_file():
                paths.append(file.relative_to(root).as_posix())
    if not paths:
        raise InputError(
            f"folder: {root.absolute()} has no file class/image that ends in {', '.join(sorted(SUFFIXES))}"
        )
    return Tree(root, tuple(paths))


def class_of(path: str) -> str:
    return path.partition("/")[0]


FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
MOST_PIXELS = 50_000_000
Pixels = NDArray[np.uint8]


class MappedImages:
    """Images in a file: indexed like a uint8 tensor and read on demand."""

    dtype = torch.uint8

    def __init__(self, pixels: Pixels, hashes: Pixels, index: NDArray[np.int64]) -> None:
        self._pixels, self._hashes, self._index = pixels, hashes, index

    @property
    def shape(self) -> torch.Size:
        return torch.Size((len(self._index), *self._pixels.shape[1:]))

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, index: Tensor | slice | int) -> Tensor:
        which = self._index[index.numpy() if isinstance(index, Tensor) else index]
        return torch.from_numpy(np.array(self._pixels[which]))

    def rows(self, index: Tensor) -> MappedImages:
        return MappedImages(self._pixels, self._hashes, self._index[index.numpy()])

    def hashes(self) -> Iterator[bytes]:
        for row in self._index:
            yield self._hashes[row].tobytes()


@dataclass(frozen=True)
class Decoded:
    """`good[n]`: image n of the tree could be read. `problems` has the errors of the others."""

    file: Path
    hashes: Pixels
    good: NDArray[np.bool_]
    problems: tuple[str, ...]

    def images(self, *, in_memory: bool) -> Tensor | MappedImages:
        """The images that could be read."""
        pixels = np.load(self.file, mmap_mode="r", allow_pickle=False)
        mapped = MappedImages(pixels, self.hashes, np.flatnonzero(self.good))
        return mapped[:] if in_memory else mapped


def decode_tree(tree: Tree, cache: Path, size: int, channels: int, *, in_memory: bool) -> Decoded:
    """Decodes the tree, or reads the stored pixels if neither they nor the tree have changed."""
    stamp = f"{tree.root.resolve()}\n{size} {channels}\n{tree.stamp()}"
    stem = cache / f"folder-{hashlib.sha256(stamp.encode()).hexdigest()[:16]}"
    pixels, index = stem.with_suffix(".npy"), stem.with_suffix(".safetensors")
    shape = (len(tree.paths), channels, size, size)
    if index.exists() and not _intact(pixels, index, shape, every_byte=in_memory):
        index.unlink()
    arrays = cached(index, lambda: _decode_all(tree, pixels, shape))
    problems = arrays["problems"].tobytes().decode()
    return Decoded(
        pixels,
        cast(Pixels, arrays["hashes"]),
        arrays["good"].astype(bool),
        tuple(problems.split("\n")) if problems else (),
    )


def _intact(pixels: Path, index: Path, shape: tuple[int, ...], *, every_byte: bool) -> bool:
    try:
        found = np.load(pixels, mmap_mode="r", allow_pickle=False)
        hashes = read_arrays(index)["hashes"]
    except (OSError, ValueError, KeyError):
        return False
    if found.shape != shape or found.dtype != np.uint8 or len(hashes) != len(found):
        return False
    return not every_byte or all(_hash(image) == known.tobytes() for image, known in zip(found, hashes, strict=True))


def _hash(image: Pixels) -> bytes:
    return hashlib.sha256(image.tobytes()).digest()


def _decode_all(tree: Tree, file: Path, shape: tuple[int, ...]) -> dict[str, NDArray[np.uint8]]:
    _check_room(file.parent, int(np.prod(shape)))
    hashes = np.zeros((len(tree.paths), 32), dtype=np.uint8)
    good = np.ones(len(tree.paths), dtype=np.uint8)
    problems = []
    with whole_file(file) as temporary:
        pixels = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.uint8, shape=shape)
        for number, path in enumerate(tree.paths):
            try:
                pixels[number] = decode_image(tree.root / path, shape[2], shape[1])
            except Exception as error:  # a decoder of a damaged file may raise anything
                good[number] = 0
                problems.append(f"{path} ({' '.join(str(error).split())})")
            hashes[number] = np.frombuffer(_hash(pixels[number]), dtype=np.uint8)
        pixels.flush()
        del pixels
    text = np.frombuffer("\n".join(problems).encode(), dtype=np.uint8)
    return {"hashes": hashes, "good": good, "problems": text}


def decode_image(file: Path, size: int, channels: int) -> Pixels:
    """C×size×size: the largest central square, resized."""
    with Image.open(file, formats=FORMATS) as image:
        width, height = image.size
        if width * height > MOST_PIXELS:
            raise InputError(f"{width}×{height} pixels; expected at most {MOST_PIXELS}")
        upright = ImageOps.exif_transpose(image).convert("L" if channels == 1 else "RGB")
    square = upright
    if upright.size != (size, size):
        square = ImageOps.fit(upright, (size, size), Image.Resampling.BICUBIC)
    return np.asarray(square, dtype=np.uint8).reshape(size, size, channels).transpose(2, 0, 1)


def _check_room(folder: Path, needed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(
            f"folder: the decoded images need {needed >> 20} MB in {folder}, {free >> 20} MB are free; "
            "choose a smaller size=, or another folder with cache= or MARGINBENCH_CACHE"
        )
