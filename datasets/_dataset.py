"""The contracts of datasets and wrappers. A subclass with a `name` is registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from datasets._data import Data
from datasets._options import HasOptions
from datasets._place import Place
from datasets._registry import Registry

DATASETS: Registry[type[Dataset]] = Registry("dataset", __package__, "marginbench.datasets")
WRAPPERS: Registry[type[Wrapper]] = Registry("wrapper", __package__, "marginbench.datasets")


@dataclass(frozen=True)
class Size:
    """How much there is to train on, roughly."""

    classes: int
    per_class: float  # images
    pixels: int  # of one image, height × width

    @property
    def images(self) -> float:
        return self.classes * self.per_class


class Dataset(HasOptions, ABC):
    """A source of images. `example` has options that make it small, for the tests that every dataset has to pass."""

    summary: ClassVar[str] = ""
    protocol: ClassVar[Any] = "closed"  # or "open", or an option of this name
    channels: ClassVar[Any] = 1  # of an image, or an option of this name
    example: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            DATASETS.add(cls.name, cls)

    @abstractmethod
    def build(self, place: Place, seed: int) -> Data:
        """Read or make the data and split it by `seed`."""

    def training_size(self) -> Size | None:
        """How much it trains on with these options; None if only the data itself can tell."""
        return None


class Wrapper(HasOptions, ABC):
    """A change to loaded data. `example` has options for the tests that every wrapper has to pass."""

    summary: ClassVar[str] = ""
    example: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            WRAPPERS.add(cls.name, cls)

    @abstractmethod
    def apply(self, data: Data, seed: int) -> Data:
        """The changed data; `data` itself stays as it is."""

    def resized(self, size: Size) -> Size | None:
        """How much is left of `size` to train on; None if only the data itself can tell."""
        return None
