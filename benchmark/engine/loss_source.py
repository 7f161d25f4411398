"""What of a loss's file makes its runs what they are: all but where tuning looks for settings."""

import ast
from collections.abc import Iterator


def without_search(source: bytes) -> bytes:
    """The file without the lines of `search = {…}` in its classes, where that is a literal alone on its lines: a wider
    space to search changes no run, and must not make every stored one a stranger."""
    lines = source.splitlines(keepends=True)
    for first, last in _literal_searches(source, lines):
        lines[first - 1 : last] = [b""] * (last - first + 1)
    return b"".join(lines)


def _literal_searches(source: bytes, lines: list[bytes]) -> Iterator[tuple[int, int]]:
    if b"search" not in source:
        return
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for statement in (one for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for one in node.body):
        if isinstance(statement, ast.Assign) and _names_search(statement) and _is_alone(statement, lines):
            yield statement.lineno, statement.end_lineno or statement.lineno


def _names_search(statement: ast.Assign) -> bool:
    try:
        ast.literal_eval(statement.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return [target.id for target in statement.targets if isinstance(target, ast.Name)] == ["search"]


def _is_alone(statement: ast.Assign, lines: list[bytes]) -> bool:
    before = lines[statement.lineno - 1][: statement.col_offset]
    after = lines[(statement.end_lineno or statement.lineno) - 1][statement.end_col_offset :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))
