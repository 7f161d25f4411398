"""Builds the wheel: one top-level package, `marginbench`, from the three folders of the clone.

benchmark/ becomes marginbench/, losses/ and datasets/ become marginbench/losses/ and marginbench/datasets/. Sources
import by the clone's names, so the build rewrites their imports. An editable install uses the folders as they are;
marginbench.py then provides the other name.
"""

import ast
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = {"benchmark": "marginbench", "losses": "marginbench.losses", "datasets": "marginbench.datasets"}
REFERENCE = {
    "results/reference/scale-or-margin/maps.csv": "marginbench/advice/maps.csv",
    "results/reference/claims/ledger.csv": "marginbench/claims/ledger.csv",
}
"""Committed results that commands show, and where the wheel holds them."""
TEXTS = (".py", ".j2", ".yaml")
_NAME = rf"({'|'.join(PACKAGES)})\b"
_FROM = re.compile(rb"from\s+" + _NAME.encode())
_EXAMPLE = re.compile(rb" *(?:>>> )?(?=from |import )")
Edit = tuple[int, int, int, bytes]  # line, first and last column, new text


class OnePackage(BuildHookInterface[Any]):
    """Hatchling's hook: writes the rewritten sources aside and adds them to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self.aside = Path(tempfile.mkdtemp())
        write_package(Path(self.root), self.aside)
        build_data["force_include"][str(self.aside / "marginbench")] = "marginbench"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self.aside)


def write_package(clone: Path, target: Path) -> None:
    """Writes the folder `marginbench`, with everything that the wheel holds."""
    for folder, package in PACKAGES.items():
        inside = target / package.replace(".", "/")
        for file in sorted((clone / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                place = inside / file.relative_to(clone / folder)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(_content(file))
    for source, copy in REFERENCE.items():
        shutil.copyfile(clone / source, target / copy)


def _content(file: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix == ".py":
        content = rewritten(content)
    return content.replace(b"python -m benchmark", b"marginbench") if file.suffix in TEXTS else content


def rewritten(source: bytes) -> bytes:
    """The source with imports by the installed names, those of examples in docstrings included."""
    lines = source.splitlines(keepends=True)
    edits = sorted((edit for node in ast.walk(ast.parse(source)) for edit in _edits(node, lines)), reverse=True)
    for line, first, last, text in edits:
        lines[line - 1] = lines[line - 1][:first] + text + lines[line - 1][last:]
    return b"".join(lines)


def _edits(node: ast.AST, lines: list[bytes]) -> Iterator[Edit]:
    if isinstance(node, ast.ImportFrom) and node.level == 0 and _installed(node.module or ""):
        found = _FROM.match(lines[node.lineno - 1], node.col_offset)
        if found is None:
            raise ValueError(f"line {node.lineno}: expected the module's name beside `from`")
        yield node.lineno, found.start(1), found.end(1), PACKAGES[found[1].decode()].encode()
    elif isinstance(node, ast.Import):
        yield from (_of_alias(alias) for alias in node.names if _installed(alias.name))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            yield number, 0, len(lines[number - 1]), _example(lines[number - 1])


def _of_alias(alias: ast.alias) -> Edit:
    if "." in alias.name and alias.asname is None:
        raise ValueError(f"line {alias.lineno}: `import {alias.name}` cannot be renamed; write `from … import …`")
    text = f"{_installed(alias.name)} as {alias.asname or alias.name}"
    return alias.lineno, alias.col_offset, alias.end_col_offset or 0, text.encode()


def _installed(module: str) -> str:
    """`marginbench.losses.arcface` for `losses.arcface`; empty for a module that is not of the clone."""
    top, dot, rest = module.partition(".")
    return f"{PACKAGES[top]}{dot}{rest}" if top in PACKAGES else ""


def _example(line: bytes) -> bytes:
    """A line of a docstring; it stays as it is unless it is an import."""
    found = _EXAMPLE.match(line)
    try:
        return line[: found.end()] + rewritten(line[found.end() :]) if found else line
    except SyntaxError:
        return line
