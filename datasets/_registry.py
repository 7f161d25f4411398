"""Registries: the components of one kind, by name. Defining a component registers it.

A component is found in three places: a file of its package whose name does not begin with an underscore, a module
that an installed package names under the kind's entry-point group, and a plug-in file (`benchmark.plugins`). A module
that cannot be imported is reported by name, and the others work. Two components of one name are an error.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar, cast

from datasets._errors import InputError
from datasets._names import unknown

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
REGISTRIES: list[Registry[Any]] = []
_seen: set[str] = set()  # modules and entry-point groups whose import was tried
_broken: dict[str, dict[str, str]] = {}  # by package: the module's last name and why it cannot be imported


class DuplicateNameError(InputError):
    """Two components have the same name."""


class Registry(Generic[T]):
    """Name → component. `package` is where its files are, `group` its entry-point group."""

    def __init__(self, noun: str, package: str, group: str) -> None:
        self.noun, self.package, self.group = noun, package, group
        self._items: dict[str, T] = {}
        self._sources: dict[str, tuple[str, str]] = {}  # by name: module and qualified name
        REGISTRIES.append(self)

    def add(self, name: str, item: T, source: Any = None) -> None:
        """Registers a component. `source` is the class or function that defines it, by default the item itself.

        Defining the same class or function again, as a reload does, replaces it.
        """
        source = item if source is None else source
        where = (source.__module__, source.__qualname__)
        if self._sources.setdefault(name, where) != where:
            both = " and ".join(_place(*one) for one in (self._sources[name], where))
            raise DuplicateNameError(f"two {self.noun}s are named {name!r}: {both}; rename one of them")
        self._items[name] = item

    def register(self, function: F) -> F:
        """Registers a function under its own name; to be used as a decorator."""
        self.add(function.__name__, cast(T, function))
        return function

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self.items())

    def items(self) -> dict[str, T]:
        """All components by their names."""
        discover(self.package, self.group)
        return dict(self._items)

    def get(self, name: str) -> T:
        """The component of that name; `InputError` suggests similar names."""
        known = self.items()
        if name in known:
            return known[name]
        if name in (reasons := self.broken()):
            raise InputError(f"the {self.noun} {name!r} could not be imported: {reasons[name]}")
        raise InputError(unknown(self.noun, name, sorted(known)))

    def broken(self) -> dict[str, str]:
        """Modules of the package, and of its entry points, that could not be imported, with the reason."""
        discover(self.package, self.group)
        return dict(_broken.get(self.package, {}))

    def defined_in(self, module: str) -> list[str]:
        """The names of the components that a module defines."""
        return sorted(name for name, (where, _) in self._sources.items() if where == module)

    def forget(self, module: str) -> None:
        """Removes what a module defined before it failed."""
        for name in self.defined_in(module):
            self._items.pop(name, None)
            del self._sources[name]


def discover(package: str, group: str) -> None:
    """Imports the package's files, and the modules that installed packages name; each once."""
    for name in _modules(package):
        if f"{package}.{name}" not in _seen:
            _seen.add(f"{package}.{name}")
            _import(package, name, f"{package}.{name}", f"{package.replace('.', '/')}/{name}.py")
    if group in _seen:
        return
    _seen.add(group)
    for point in entry_points(group=group):
        _import(package, point.name, point.module, f"the plug-in {point.name} = {point.value}")


def _modules(package: str) -> Iterator[str]:
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    yield from (module.name for module in found if not module.name.startswith("_"))


def _import(package: str, name: str, module: str, what: str) -> None:
    """Imports a module. A name clash in an installed package is only recorded, so that the clone stays usable."""
    own = module.startswith(f"{package}.")
    try:
        if own and module not in sys.modules and hasattr(sys.modules[package], name):
            raise InputError(f"{module} would hide something else with that name; rename the file")
        importlib.import_module(module)
    except (Exception, SystemExit) as problem:
        forget(module)
        if own and isinstance(problem, DuplicateNameError):
            _seen.discard(module)
            raise
        _broken.setdefault(package, {})[name] = f"{what}: {reason(problem)}"
        warnings.warn(f"{what}: {reason(problem)}; the others work", RuntimeWarning, stacklevel=5)


def forget(module: str) -> None:
    """Removes a module that failed, and whatever it registered."""
    sys.modules.pop(module, None)
    for registry in REGISTRIES:
        registry.forget(module)


def reason(problem: BaseException) -> str:
    """`SyntaxError: invalid syntax (line 3)`."""
    line = f" (line {problem.lineno})" if isinstance(problem, SyntaxError) and problem.lineno else ""
    return f"{type(problem).__name__}: {problem.msg if isinstance(problem, SyntaxError) else problem}{line}"


def _place(module: str, qualname: str) -> str:
    return str(getattr(sys.modules.get(module), "__file__", None) or f"{module}.{qualname}")
