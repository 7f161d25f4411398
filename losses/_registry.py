"""Which losses there are: those defined in this folder, in installed packages and in plug-in files.

Files whose names begin with an underscore are the machinery; every other file is imported on first need, and so is
every module that an installed package names under the entry-point group `marginbench.losses`. One that fails to
import is reported by name and the rest goes on working; two losses of one name are an error.
"""

import importlib
import sys
import warnings
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from losses._errors import InputError

if TYPE_CHECKING:
    from losses._head import Head

_FOLDER = Path(__file__).parent
_GROUP = "marginbench.losses"
_losses: dict[str, type["Head"]] = {}
_broken: dict[str, str] = {}
_looked_at: set[str] = set()


class DuplicateLossError(InputError):
    """Two losses of one name."""


def register(loss: type["Head"]) -> None:
    """Called when a loss's class is defined. Defining the same class again (a reload) replaces it."""
    known = _losses.get(loss.name)
    if known is not None and (known.__module__, known.__qualname__) != (loss.__module__, loss.__qualname__):
        raise DuplicateLossError(
            f"two losses are named {loss.name!r}: {_where(known)} and {_where(loss)}; rename one of them"
        )
    _losses[loss.name] = loss


def names() -> list[str]:
    """The names of all losses, sorted."""
    _discover()
    return sorted(_losses)


def broken() -> dict[str, str]:
    """Files of this folder and packages' modules that could not be imported, each with the reason."""
    _discover()
    return dict(_broken)


def get(name: str) -> type["Head"]:
    """The class of a loss by its name."""
    _discover()
    if name in _losses:
        return _losses[name]
    if name in _broken:
        raise InputError(f"the loss {name!r} could not be imported: {_broken[name]}")
    near = get_close_matches(str(name), list(_losses), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(f"no loss is named {name!r}{hint} (there are: {', '.join(sorted(_losses))})")


def create(name: str, num_classes: int, dim: int, **settings: Any) -> "Head":
    """A new head. Beside the loss's own hyper-parameters it takes `class_counts`, `num_samples`,
    `total_steps`, `label_smoothing` and `seed`; see `Head`."""
    return get(name)(num_classes, dim, **settings)


def _discover() -> None:
    for path in sorted(_FOLDER.glob("[!_]*.py")):
        if path.stem in _looked_at:
            continue
        try:
            if path.stem in sys.modules[__package__].__all__:  # importing it would put the module in that name's place
                raise InputError(f"losses.{path.stem} is something else already; rename the file")
            importlib.import_module(f"losses.{path.stem}")
        except DuplicateLossError:
            forget(f"losses.{path.stem}")
            raise
        except Exception as problem:
            _report_broken(path.stem, f"losses.{path.stem}", f"losses/{path.name}: {_reason(problem)}")
        _looked_at.add(path.stem)
    if _GROUP not in _looked_at:
        _looked_at.add(_GROUP)
        _discover_packages()


def _discover_packages() -> None:
    """An installed package must not make this folder's losses unusable, so its clash of names is one more failure."""
    for point in entry_points(group=_GROUP):
        try:
            point.load()
        except (Exception, SystemExit) as problem:
            reason = f"the plug-in {point.name} = {point.value}: {_reason(problem)}"
            _report_broken(point.name, point.module, reason)


def _report_broken(name: str, module: str, reason: str) -> None:
    forget(module)
    _broken[name] = reason
    warnings.warn(f"{reason}; the other losses work", stacklevel=4)


def forget(module: str) -> None:
    """Removes a module that failed, and the losses that it defined."""
    sys.modules.pop(module, None)
    for name in [name for name, loss in _losses.items() if f"{loss.__module__}.".startswith(f"{module}.")]:
        del _losses[name]


def _where(loss: type) -> str:
    return str(getattr(sys.modules.get(loss.__module__), "__file__", None) or loss.__module__)


def _reason(problem: BaseException) -> str:
    line = f" (line {problem.lineno})" if isinstance(problem, SyntaxError) and problem.lineno else ""
    return f"{type(problem).__name__}: {problem.msg if isinstance(problem, SyntaxError) else problem}{line}"
