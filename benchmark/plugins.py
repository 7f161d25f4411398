"""Plug-ins: Python files outside of this project that define losses, datasets, backbones, metrics, plots, ….

Whatever the file defines registers itself, as it would in a file of this project. The file may import others of its
folder; `files_of` names them, so that they can travel to another machine.
"""

import importlib
import importlib.util
import sys
import traceback
import zlib
from collections.abc import Iterable
from pathlib import Path

import losses
from benchmark.code_digest import own_files
from benchmark.errors import INPUT_ERRORS, InputError
from datasets._registry import REGISTRIES, forget, reason
from losses._registry import forget as forget_loss

ROOMS = ("losses", "datasets", "benchmark", "marginbench")
_sources: dict[Path, bytes] = {}  # of the plug-ins that are loaded


def load_plugin(path: str | Path) -> list[str]:
    """Imports a file, once unless it changes, and returns the names of the components that it and its helpers define.

    If it fails, nothing of it stays registered. `InputError` says why.
    """
    path = Path(path).resolve()
    if not path.is_file():
        raise InputError(f"there is no plug-in file {path}: check the path after --plugin")
    if path.suffix != ".py":
        raise InputError(f"the plug-in {path} is not a Python file: its name should end in .py")
    source = path.read_bytes()
    if _sources.get(path) != source:
        _import(path)
        _sources[path] = source
    return _names(_modules(path))


def files_of(plugin: Path) -> list[Path]:
    """The plug-in's file, then those of its folder that it imports."""
    return own_files(plugin)


def plugin_at_fault(problem: BaseException) -> str:
    """If a plug-in's own code raised the error: the file and line, for the message. Otherwise nothing."""
    files = {str(file) for plugin in _sources for file in files_of(plugin)}
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename in files]
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""


def _import(path: Path) -> None:
    """Reads the file again if it was loaded before and has changed since."""
    losses.names()  # this project's own come first, so that a clash is the plug-in's
    if _sources.pop(path, None) is not None:
        _forget(_modules(path))
    known, is_new_folder = set(sys.modules), str(path.parent) not in sys.path
    if is_new_folder:
        sys.path.append(str(path.parent))
    try:
        _check_helpers(path)
        module = _module_name(path)
        spec = importlib.util.spec_from_file_location(module, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[module] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[module])
        if not _names(_modules(path)):
            raise InputError(f"the plug-in {path} defines no loss, dataset, backbone, metric, plot or other component")
    except (Exception, SystemExit) as problem:
        _forget(set(_modules(path)) - known)
        if is_new_folder:
            sys.path.remove(str(path.parent))
        if isinstance(problem, INPUT_ERRORS):
            raise
        raise InputError(f"the plug-in {path} could not be imported: {reason(problem)}") from problem


def _forget(modules: Iterable[str]) -> None:
    for name in modules:
        forget(name)
        forget_loss(name)


def _module_name(path: Path) -> str:
    return f"marginbench_plugin_{path.stem}_{zlib.crc32(str(path).encode()):x}"


def _modules(path: Path) -> list[str]:
    """The plug-in's module, and those of its helpers that are imported now."""
    try:
        files = {str(file) for file in files_of(path)}
    except (SyntaxError, ValueError):
        files = set()
    return [_module_name(path), *(name for name, one in list(sys.modules.items()) if _file(one) in files)]


def _file(module: object) -> str | None:
    return getattr(module, "__file__", None)


def _names(modules: Iterable[str]) -> list[str]:
    """What the modules define. Looking a registry's names up also finds a clash with this project's own."""
    modules = set(modules)
    found = {name for name in losses.names() if losses.get(name).__module__ in modules}
    for registry in list(REGISTRIES):
        own = {name for module in modules for name in registry.defined_in(module)}
        found |= own & set(registry.names()) if own else set()
    return sorted(found)


def _check_helpers(path: Path) -> None:
    """Python takes the first module of a name that it finds, which may not be the file beside the plug-in."""
    for helper in files_of(path)[1:]:
        name = helper.parent.name if helper.name == "__init__.py" else helper.stem
        if name in ROOMS:
            continue
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None or Path(found.origin).resolve() != helper:
            taken_by = found.origin if found is not None else "another module"
            raise InputError(f"the plug-in {path} imports {helper.name}, but {name!r} is {taken_by}: rename {helper}")
