"""Datasets and wrappers are registered by being defined; every file of this folder is looked at."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

from datasets._data import Data
from datasets._errors import InputError
from datasets._options import HasOptions, nearest
from datasets._place import Place

PACKAGE = "datasets"
Kind = TypeVar("Kind", bound=type[Any])


class DuplicateNameError(InputError):
    """Two definitions claim one name."""


class Dataset(HasOptions, ABC):
    """A source of images. A subclass with a `name` is registered.

    `image_shape` is (channels, height, width) where that is known without loading.
    """

    summary: ClassVar[str] = ""
    image_shape: ClassVar[tuple[int, int, int] | None] = None
    registered: ClassVar[dict[str, type[Dataset]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            _register(cls.registered, cls.name, cls, "dataset")

    @abstractmethod
    def build(self, place: Place, seed: int) -> Data:
        """Read or make the data and split it by `seed`."""


class Wrapper(HasOptions, ABC):
    """A change to loaded data. A subclass with a `name` is registered."""

    summary: ClassVar[str] = ""
    registered: ClassVar[dict[str, type[Wrapper]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            _register(cls.registered, cls.name, cls, "wrapper")

    @abstractmethod
    def apply(self, data: Data, seed: int) -> Data:
        """The changed data; `data` itself stays as it is."""


def _register(registered: dict[str, Kind], name: str, cls: Kind, kind: str) -> None:
    other = registered.get(name)
    # A module that is loaded again defines its own class once more: that is no second claim.
    if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise DuplicateNameError(
            f"two {kind}s are named {name!r}: {other.__module__}.{other.__qualname__} and "
            f"{cls.__module__}.{cls.__qualname__}; rename one"
        )
    registered[name] = cls


_discovered: set[str] = set()


def discover() -> None:
    """Import every module of this folder whose name does not begin with an underscore."""
    package = importlib.import_module(PACKAGE)
    for module in pkgutil.iter_modules(package.__path__):
        full = f"{PACKAGE}.{module.name}"
        if module.name.startswith("_") or full in _discovered:
            continue
        try:
            if module.name in package.__all__:
                raise ImportError(f"it would hide {full}, which is something else; rename the file")
            importlib.import_module(full)
        except DuplicateNameError:
            raise
        except Exception as error:
            warnings.warn(
                f"{full} could not be imported and is left out: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=3,
            )
        _discovered.add(full)


def find_dataset(name: str) -> type[Dataset]:
    discover()
    return _find(Dataset.registered, name, "dataset")


def find_wrapper(name: str) -> type[Wrapper]:
    discover()
    return _find(Wrapper.registered, name, "wrapper")


def _find(registered: dict[str, Kind], name: str, kind: str) -> Kind:
    if name not in registered:
        known = ", ".join(sorted(registered))
        raise InputError(f"no {kind} {name!r}{nearest(name, registered)}; there are: {known}")
    return registered[name]
