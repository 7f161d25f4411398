"""Pairs of images that are known by their paths, class/image."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from datasets._trees import class_of


@dataclass(frozen=True)
class NamedPair:
    first: str
    second: str
    same: bool
    fold: int | None


@dataclass(frozen=True)
class NamedPairs:
    """Pairs with both images, and how many there were of pairs and of images that are missing."""

    file: Path
    pairs: tuple[NamedPair, ...]
    total: int
    missing: int

    @property
    def notes(self) -> tuple[str, ...]:
        lost = self.total - len(self.pairs)
        if not lost:
            return ()
        return (f"{self.file.name}: {lost} of {self.total} pairs left out; missing images: {self.missing}",)

    @cached_property
    def images(self) -> tuple[str, ...]:
        """Each once, in the order in which the pairs name them."""
        return tuple(dict.fromkeys(path for pair in self.pairs for path in (pair.first, pair.second)))

    @cached_property
    def classes(self) -> set[str]:
        return {class_of(path) for path in self.images}
