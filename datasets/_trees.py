"""A tree of images, class/image.png, in folders."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from datasets._errors import InputError, MissingDataError
from datasets._source import MOST_BYTES, Source

SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}


def class_of(path: str) -> str:
    return path.rpartition("/")[0]


def is_image(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in SUFFIXES and not name.startswith(".")


class Tree(Source):
    """Images sorted by class and file name; `paths` are relative to `root`, with slashes."""

    def __init__(self, root: Path, paths: Sequence[str], sizes: Sequence[tuple[int, int]]) -> None:
        self.root, self.title = root, str(root)
        self.paths, self._sizes = tuple(paths), tuple(sizes)
        self.names = tuple(sorted({class_of(path) for path in paths}))
        number = {name: label for label, name in enumerate(self.names)}
        self.labels = np.array([number[class_of(path)] for path in paths], dtype=np.int64)

    def read(self, number: int) -> bytes:
        size = self._sizes[number][0]
        if size > MOST_BYTES:
            raise InputError(f"it has {size} bytes; expected at most {MOST_BYTES}")
        return (self.root / self.paths[number]).read_bytes()

    def where(self, number: int) -> str:
        return self.paths[number]

    def stamp(self) -> str:
        lines = (f"{path} {size} {time}" for path, (size, time) in zip(self.paths, self._sizes, strict=True))
        return "\n".join([str(self.root.resolve()), *lines])

    def fingerprint(self) -> str:
        lines = (f"{path} {size}\n" for path, (size, _) in zip(self.paths, self._sizes, strict=True))
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def scan_tree(root: Path) -> Tree:
    if not root.is_dir():
        raise MissingDataError(
            f"there is no folder {root.absolute()}. Expected one subfolder per class with its images: "
            "CLASS/IMAGE.png.\nTo name the folder, write in the experiment file\n    datasets:\n"
            "      - folder: {path: my-images}\nIt is relative to --data DIR or MARGINBENCH_DATA, in Python to root="
        )
    inside = root.resolve()
    paths, sizes = [], []
    folders = sorted(entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    for folder in folders:
        linked = folder.is_symlink()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if not is_image(entry.name):
                    continue
                if (linked or entry.is_symlink()) and not Path(entry.path).resolve().is_relative_to(inside):
                    raise InputError(f"{entry.path} is a link to a file outside of {root}; copy the image instead")
                if entry.is_file():
                    paths.append(f"{folder.name}/{entry.name}")
                    sizes.append((entry.stat().st_size, entry.stat().st_mtime_ns))
    if not paths:
        raise InputError(f"{root.absolute()} has no file class/image that ends in {', '.join(sorted(SUFFIXES))}")
    return Tree(root, paths, sizes)
