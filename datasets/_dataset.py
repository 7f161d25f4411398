"""The contracts of datasets and wrappers. A subclass with a `name` is registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from datasets._data import Data
from datasets._options import HasOptions
from datasets._place import Place
from datasets._registry import Registry

DATASETS: Registry[type[Dataset]] = Registry("dataset", __package__, "marginbench.datasets")
WRAPPERS: Registry[type[Wrapper]] = Registry("wrapper", __package__, "marginbench.datasets")


class Dataset(HasOptions, ABC):
    """A source of images. `image_shape` is (channels, height, width) where that is known without loading."""

    summary: ClassVar[str] = ""
    image_shape: ClassVar[tuple[int, int, int] | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            DATASETS.add(cls.name, cls)

    @abstractmethod
    def build(self, place: Place, seed: int) -> Data:
        """Read or make the data and split it by `seed`."""


class Wrapper(HasOptions, ABC):
    """A change to loaded data."""

    summary: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            WRAPPERS.add(cls.name, cls)

    @abstractmethod
    def apply(self, data: Data, seed: int) -> Data:
        """The changed data; `data` itself stays as it is."""
