"""The registered losses: those of this folder, of installed packages and of plug-in files.

Files whose names begin with an underscore are machinery. Every other file is imported when a loss is first needed, and
so is every module that an installed package names under the entry-point group `marginbench.losses`. A module that
cannot be imported is reported by name, and the other losses work. Two losses of one name are an error.
"""

import importlib
import sys
import warnings
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from losses._errors import InputError, did_you_mean

if TYPE_CHECKING:
    from losses._head import Head

_FOLDER = Path(__file__).parent
_GROUP = "marginbench.losses"
_losses: dict[str, type["Head"]] = {}
_broken: dict[str, str] = {}
_seen: set[str] = set()  # modules and the entry-point group that were imported, or tried


class DuplicateLossError(InputError):
    """Two losses have one name."""


def register(loss: type["Head"]) -> None:
    """Adds a loss when its class is defined. Defining the same class again, as a reload does, replaces it."""
    known = _losses.get(loss.name)
    if known is not None and (known.__module__, known.__qualname__) != (loss.__module__, loss.__qualname__):
        raise DuplicateLossError(
            f"two losses are named {loss.name!r}: {_where(known)} and {_where(loss)}; rename one of them"
        )
    _losses[loss.name] = loss


def names() -> list[str]:
    """The names of all losses, sorted.

    >>> names()[:2]
    ['adaacos', 'adacos']
    """
    _discover()
    return sorted(_losses)


def broken() -> dict[str, str]:
    """Modules of this folder and of installed packages that could not be imported, with the reason.

    >>> broken()
    {}
    """
    _discover()
    return dict(_broken)


def get(name: str) -> type["Head"]:
    """The class of the loss called `name`; `InputError` names a similar one if there is none.

    >>> get("arcface").hyper["m"].default
    0.5
    >>> get("arcfase")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    losses._errors.InputError: no loss is named 'arcfase'; did you mean 'arcface'? (there are: adaacos, ...)
    """
    _discover()
    if name in _losses:
        return _losses[name]
    if name in _broken:
        raise InputError(f"the loss {name!r} could not be imported: {_broken[name]}")
    raise InputError(
        f"no loss is named {name!r}{did_you_mean(name, _losses)} (there are: {', '.join(sorted(_losses))})"
    )


def create(name: str, num_classes: int | None = None, dim: int | None = None, **settings: Any) -> "Head":
    """A new head of the loss called `name`, for `num_classes` classes and embeddings of `dim` dimensions.

    `settings` are the loss's hyper-parameters, and `class_counts`, `num_samples`, `total_steps`, `label_smoothing` and
    `seed`, which `Head` explains. `InputError` says which argument is missing, unknown or out of range.

    >>> create("cosface", num_classes=10, dim=8, s=16.0, m=0.2).weight.shape
    torch.Size([10, 8])
    >>> create("cosface", 10, embedding_size=8)
    Traceback (most recent call last):
        ...
    losses._errors.InputError: cosface has no hyper-parameter 'embedding_size'; it takes: gradient, s, m; write dim=8
    """
    return get(name)(num_classes, dim, **settings)


def by_class_name(name: str) -> type["Head"]:
    """The loss whose class has that name, the first registered of several; `AttributeError` names a similar one."""
    if name.startswith("_"):  # Python and its tools ask every module for such names
        raise AttributeError(f"module {__package__!r} has no attribute {name!r}")
    known = class_names()
    if name not in known:
        raise AttributeError(f"module {__package__!r} has no attribute {name!r}{did_you_mean(name, known)}")
    return known[name]


def class_names() -> dict[str, type["Head"]]:
    """Class name → loss, so that a plug-in never hides a loss of this folder."""
    _discover()
    return {loss.__name__: loss for loss in reversed(_losses.values())}


def _discover() -> None:
    for path in sorted(_FOLDER.glob("[!_]*.py")):
        _import(path.stem, f"{__package__}.{path.stem}", f"losses/{path.name}")
    if _GROUP not in _seen:
        _seen.add(_GROUP)
        for point in entry_points(group=_GROUP):
            _import(point.name, point.module, f"the plug-in {point.name} = {point.value}")


def _import(name: str, module: str, what: str) -> None:
    """Imports a module once. An installed package that clashes with a loss of this folder counts as broken."""
    if module in _seen:
        return
    _seen.add(module)
    is_own = module == f"{__package__}.{name}"
    try:
        if is_own and name in sys.modules[__package__].__all__:  # the module would replace what has that name
            raise InputError(f"{module} would hide something else of that name; rename the file")
        importlib.import_module(module)
    except (Exception, SystemExit) as problem:
        forget(module)
        if is_own and isinstance(problem, DuplicateLossError):
            _seen.discard(module)
            raise
        _broken[name] = f"{what}: {_reason(problem)}"
        warnings.warn(f"{_broken[name]}; the other losses work", stacklevel=4)


def forget(module: str) -> None:
    """Removes a module that failed, and the losses that it defined."""
    sys.modules.pop(module, None)
    for name, loss in list(_losses.items()):
        if f"{loss.__module__}.".startswith(f"{module}."):
            del _losses[name]


def _where(loss: type) -> str:
    return str(getattr(sys.modules.get(loss.__module__), "__file__", None) or loss.__module__)


def _reason(problem: BaseException) -> str:
    line = f" (line {problem.lineno})" if isinstance(problem, SyntaxError) and problem.lineno else ""
    return f"{type(problem).__name__}: {problem.msg if isinstance(problem, SyntaxError) else problem}{line}"
