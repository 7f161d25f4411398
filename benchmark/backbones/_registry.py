"""Which backbones there are: those defined in this folder. A file whose name begins with an underscore is machinery."""

import importlib
import pkgutil
from difflib import get_close_matches
from typing import TYPE_CHECKING

from benchmark.errors import InputError

if TYPE_CHECKING:
    from benchmark.backbones._backbone import Backbone

PACKAGE = __package__
_backbones: dict[str, type["Backbone"]] = {}


class DuplicateBackboneError(InputError):
    """Two backbones of one name."""


def register(backbone: type["Backbone"]) -> None:
    """Called when a backbone's class is defined. Defining the same class again (a reload) replaces it."""
    known = _backbones.get(backbone.name)
    if known is not None and _where(known) != _where(backbone):
        raise DuplicateBackboneError(
            f"two backbones are named {backbone.name!r}: {_where(known)} and {_where(backbone)}; rename one of them"
        )
    _backbones[backbone.name] = backbone


def names() -> list[str]:
    """The names of all backbones, sorted."""
    _discover()
    return sorted(_backbones)


def get(name: str) -> type["Backbone"]:
    """The class of a backbone by its name."""
    _discover()
    if name in _backbones:
        return _backbones[name]
    near = get_close_matches(str(name), list(_backbones), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(f"no backbone is named {name!r}{hint} (there are: {', '.join(sorted(_backbones))})")


def _discover() -> None:
    for module in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{PACKAGE}.{module.name}")


def _where(backbone: type) -> str:
    return f"{backbone.__module__}.{backbone.__qualname__}"
