"""A person's own tree of images: class/image.png."""

from dataclasses import dataclass
from pathlib import Path

from datasets._errors import InputError, MissingDataError

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
            f"folder: {root.absolute()} is no folder. Expected one subfolder a class with images inside, "
            "class/image.png; set it by root= or path="
        )
    inside = root.resolve()
    paths = []
    for folder in sorted(entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
        for file in sorted(folder.iterdir()):
            if file.suffix.lower() not in SUFFIXES or file.name.startswith("."):
                continue
            if not file.resolve().is_relative_to(inside):
                raise InputError(f"folder: {file} is a link that leads out of {root}; copy the image instead")
            if file.is_file():
                paths.append(file.relative_to(root).as_posix())
    if not paths:
        raise InputError(f"folder: {root.absolute()} holds no class/image that ends in {', '.join(sorted(SUFFIXES))}")
    return Tree(root, tuple(paths))


def class_of(path: str) -> str:
    return path.partition("/")[0]
