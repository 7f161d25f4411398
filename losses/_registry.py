"""Which losses there are: those defined in this folder, in installed packages and in plug-in files.

Files whose names begin with an underscore are the machinery; every other file is imported on first need, and so is
every module that an installed package names under the entry-point group `marginbench.losses`. One that fails to
import is reported by name and the rest goes on working; two losses of one name are an error.
"""

import importlib
import importlib.util
import sys
import warnings
import zlib
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


def load_plugin(path: str | Path) -> list[str]:
    """Imports a file outside this folder and returns the names of the losses that it defines."""
    path = Path(path).resolve()
    if not path.is_file():
        raise InputError(f"there is no plug-in file {path}")
    _discover()
    module = f"losses_plugin_{path.stem}_{zlib.crc32(str(path).encode()):x}"
    before = set(_losses)
    spec = importlib.util.spec_from_file_location(module, path)
    if spec is None or spec.loader is None:
        raise InputError(f"the plug-in {path} is no Python file: its name should end in .py")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    try:
        spec.loader.exec_module(loaded)
    except DuplicateLossError:
        _forget(module, before)
        raise
    except Exception as problem:
        _forget(module, before)
        raise InputError(f"the plug-in {path} could not be imported: {_reason(problem)}") from problem
    return sorted(name for name, loss in _losses.items() if loss.__module__ == module)


def _discover() -> None:
    for path in sorted(_FOLDER.glob("[!_]*.py")):
        if path.stem in _looked_at:
            continue
        before, module = set(_losses), f"{__package__}.{path.stem}"
        try:
            if path.stem in sys.modules[__package__].__all__:  # importing it would put the module in that name's place
                raise InputError(f"{module} is something else already; rename the file")
            importlib.import_module(module)
        except DuplicateLossError:
            _forget(module, before)
            raise
        except Exception as problem:
            _report_broken(path.stem, module, before, f"losses/{path.name}: {_reason(problem)}")
        _looked_at.add(path.stem)
    if _GROUP not in _looked_at:
        _looked_at.add(_GROUP)
        _discover_packages()


def _discover_packages() -> None:
    """An installed package must not make this folder's losses unusable, so its clash of names is one more failure."""
    for point in entry_points(group=_GROUP):
        before = set(_losses)
        try:
            point.load()
        except (Exception, SystemExit) as problem:
            reason = f"the plug-in {point.name} = {point.value}: {_reason(problem)}"
            _report_broken(point.name, point.module, before, reason)


def _report_broken(name: str, module: str, before: set[str], reason: str) -> None:
    _forget(module, before)
    _broken[name] = reason
    warnings.warn(f"{reason}; the other losses work", stacklevel=4)


def _forget(module: str, before: set[str]) -> None:
    sys.modules.pop(module, None)
    for name in set(_losses) - before:
        del _losses[name]


def _where(loss: type) -> str:
    return str(getattr(sys.modules.get(loss.__module__), "__file__", None) or loss.__module__)


def _reason(problem: BaseException) -> str:
    line = f" (line {problem.lineno})" if isinstance(problem, SyntaxError) and problem.lineno else ""
    return f"{type(problem).__name__}: {problem.msg if isinstance(problem, SyntaxError) else problem}{line}"
