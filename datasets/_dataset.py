"""The contracts of datasets and wrappers. A subclass with a `name` is registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from datasets._data import Data
from datasets._names import ONLY_TEST
from datasets._options import HasOptions
from datasets._place import Place
from datasets._registry import Registry

DATASETS: Registry[type[Dataset]] = Registry("dataset", __package__, "marginbench.datasets")
WRAPPERS: Registry[type[Wrapper]] = Registry("wrapper", __package__, "marginbench.datasets")


@dataclass(frozen=True)
class Size:
    """The approximate size of the training split."""

    classes: int
    per_class: float  # images
    pixels: int  # per image: height × width

    @property
    def images(self) -> float:
        return self.classes * self.per_class


class Dataset(HasOptions, ABC):
    """A source of images. `example` has options that make it small, for the tests that every dataset must pass."""

    summary: ClassVar[str] = ""
    protocol: ClassVar[Any] = "closed"  # "closed", "open", or an option of this name
    channels: ClassVar[Any] = 1  # of an image, or an option of this name
    example: ClassVar[Mapping[str, object]] = {}
    examples_may_be_shown: ClassVar[bool] = False  # on public pages: they show no people, and their licence allows it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            DATASETS.add(cls.name, cls)

    @abstractmethod
    def build(self, place: Place, seed: int) -> Data:
        """Reads or makes the data and splits it by `seed`."""

    def pairs_lost(self, place: Place) -> tuple[str, ...]:
        """Notes on listed pairs without images, as far as file names tell: reads no image and writes nothing."""
        return ()

    def training_size(self) -> Size | None:
        """The size of the training split with these options; None if it is unknown before loading."""
        return None

    def test_sets(self) -> list[str]:
        """The names of the test sets with these options."""
        return [ONLY_TEST]


class Wrapper(HasOptions, ABC):
    """A change to loaded data. `example` has options for the tests that every wrapper must pass."""

    summary: ClassVar[str] = ""
    example: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            WRAPPERS.add(cls.name, cls)

    @abstractmethod
    def apply(self, data: Data, seed: int) -> Data:
        """The changed data; `data` itself does not change."""

    def resized(self, size: Size) -> Size | None:
        """The size of the training split after the change; None if it is unknown before loading."""
        return None
