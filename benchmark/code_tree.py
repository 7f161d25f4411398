"""The part of a Python source that a run depends on: the syntax tree without docstrings, comments, imports, `search`.

It needs only the standard library, and gives the same text under every version of Python.
"""

import ast
import json
from functools import lru_cache
from typing import Any

DESCRIBING = (["search"], ["images_per_second"])
"""Class attributes that do not change a run."""


@lru_cache(maxsize=1024)
def essential(source: bytes) -> str:
    """The syntax tree as JSON. It takes bytes, so that Python handles encodings and line endings."""
    return json.dumps(_canonical(ast.parse(source)), separators=(",", ":"))


@lru_cache(maxsize=1024)
def imported(source: bytes) -> tuple[tuple[int, str], ...]:
    """Each module that may be imported, and from how many folders up; `from a import b` may mean a or a.b."""
    found: dict[tuple[int, str], None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = [node.module] if node.module else []
            names = [".".join(module), *(".".join([*module, alias.name]) for alias in node.names)]
            found |= dict.fromkeys((node.level, name) for name in names)
    return tuple(found)


def _canonical(node: Any, in_class: bool = False) -> Any:
    """A tree as plain lists, without fields that differ between versions of Python and carry no meaning."""
    if isinstance(node, list):
        return [_canonical(one) for one in node if not _changes_nothing(one) and not (in_class and _describes(one))]
    if isinstance(node, str):
        return ["str", node]
    if not isinstance(node, ast.AST):
        return [type(node).__name__, repr(node)]
    parts = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
    in_class = isinstance(node, ast.ClassDef)
    return [type(node).__name__, *([name, _canonical(value, in_class)] for name, value in parts if name != "kind")]


def _changes_nothing(node: Any) -> bool:
    if isinstance(node, ast.Expr):  # docstrings, and other strings that are statements
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING") and not node.orelse
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Pass)


def _describes(node: Any) -> bool:
    """Whether it assigns a literal that does not change a run, such as the tuning range `search = {…}`."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if [target.id for target in targets if isinstance(target, ast.Name)] not in DESCRIBING:
        return False
    try:
        ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
