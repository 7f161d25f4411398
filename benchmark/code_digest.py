"""Digests of a component's own code: what a cell's id covers beside its settings and its data.

A digest is of the syntax trees of the component's file and of the files that it imports from its own folder. Comments,
docstrings, imports, `search` ranges and a declared throughput change no run and are left out. Files whose names begin
with an underscore are shared machinery, which PROTOCOL_VERSION stands for.
"""

import ast
import hashlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark.errors import InputError

DESCRIBING = (["search"], ["images_per_second"])
"""Attributes of a class that change no run."""


def code_digest(component: type) -> str:
    """Of the code that defines a loss or a backbone, the classes that it derives from included."""
    files: dict[Path, None] = {}
    for one in component.__mro__:
        source = _source(one)
        if source is not None and not source.name.startswith("_"):
            files |= dict.fromkeys(own_files(source))
    if not files:
        raise InputError(f"{component.__name__} was not defined in a file, so its cells cannot get an id")
    trees = sorted(json.dumps(_canonical(ast.parse(file.read_bytes()))) for file in files)
    return hashlib.sha256("\n".join(trees).encode()).hexdigest()


def own_files(path: Path) -> list[Path]:
    """The file, and the files of its folder that it imports, directly or through others; machinery left out."""
    found = {path.resolve(): None}
    for file in (waiting := [path.resolve()]):
        for helper in _imported_from_its_folder(file, path.resolve().parent):
            if helper not in found:
                found[helper] = None
                waiting.append(helper)
    return list(found)


def _source(component: type) -> Path | None:
    """None for what comes with Python or from an installed package."""
    try:
        path = Path(inspect.getsourcefile(component) or "").resolve()
    except TypeError:
        return None
    is_theirs = component.__module__.split(".")[0] in ("torch", "builtins", "abc", "typing")
    return None if is_theirs or not path.is_file() else path


def _imported_from_its_folder(file: Path, folder: Path) -> Iterator[Path]:
    for name in _imported_names(ast.parse(file.read_bytes())):
        for place in (folder / f"{name}.py", folder / name / "__init__.py"):
            if not name.startswith("_") and place.is_file() and place.resolve() != file:
                yield place.resolve()


def _imported_names(tree: ast.AST) -> Iterator[str]:
    """The last parts of imported modules: `losses.adacos_fixed` and `.adacos_fixed` are both `adacos_fixed`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.rpartition(".")[2] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").rpartition(".")[2]
            yield from (alias.name for alias in node.names)


def _canonical(node: Any) -> Any:
    """A syntax tree as plain lists, the same under every version of Python."""
    if isinstance(node, list):
        return [_canonical(one) for one in _without_docstring(node) if not _changes_nothing(one)]
    if not isinstance(node, ast.AST):
        return [type(node).__name__, repr(node)]
    parts = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
    return [type(node).__name__, *([name, _canonical(value)] for name, value in parts if name != "kind")]


def _without_docstring(body: list[Any]) -> list[Any]:
    """Texts that stand alone as statements describe; they compute nothing."""
    return [one for one in body if not (isinstance(one, ast.Expr) and _is_text(one.value))]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _changes_nothing(node: Any) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if not isinstance(node, ast.Assign):
        return False
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    return names in DESCRIBING and _is_literal(node.value)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
