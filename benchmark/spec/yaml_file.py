"""From the text of a YAML file to plain data, and to the line of every key. The text is not trusted.

Values are read as YAML 1.2's core schema has it: `1e-3` is a number, `no` and `010` are what they look like.
"""

import math
import re
from pathlib import Path
from typing import Any

import yaml

from benchmark.errors import InputError
from benchmark.spec.file_errors import FileErrors, KeyPath
from datasets._names import shown

SHIPPED = Path(__file__).parent.parent / "experiments"  # the files that come with the benchmark
SUFFIXES = (".yaml", ".yml")
MOST_BYTES = 1 << 20
MOST_NODES = 20_000
DEEPEST = 20
LONGEST_WHOLE = 18

_TAG = "tag:yaml.org,2002:"
_TRUE = ("true", "True", "TRUE")


class TooLargeError(yaml.YAMLError):
    """A document with more in it than any experiment needs."""


class _Loader(yaml.SafeLoader):
    """Composes nodes and stops early where they are too many or too deep."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    nodes = 0
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.nodes += 1
        self.depth += 1
        _refuse_excess(self.nodes, self.depth)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


for _kind, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", list("-+.")),
):
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), _first)


def read_text(path: Path) -> str:
    """The file's text; ValueError if it is not a file, too large or not UTF-8."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file" if not path.exists() else f"{path}: is not a file")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: could not be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise InputError(f"{path.name}: is larger than {MOST_BYTES >> 20} MB, too large for an experiment file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{path.name}, line {line}: is not UTF-8 text") from error


def read_document(text: str, problems: FileErrors) -> Any:
    """The document as dicts, lists, texts, numbers, booleans and None; fills `problems.lines`."""
    try:
        root = yaml.compose(text, _Loader)
        data = None if root is None else _Reader(problems).read(root, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(filter(None, (error.context, error.problem)))
        problems.add((), f"is not valid YAML: {said}", mark.line + 1 if mark else None)
    except TooLargeError as error:
        problems.add((), f"is too large for an experiment file: {error}")
    except yaml.YAMLError as error:
        problems.add((), f"is not valid YAML: {' '.join(str(error).split())}")
    problems.raise_if_any()
    return data


def _refuse_excess(nodes: int, depth: int) -> None:
    if nodes > MOST_NODES:
        raise TooLargeError(f"it has more than {MOST_NODES:,} values (aliases count each time they are used)")
    if depth > DEEPEST:
        raise TooLargeError(f"it is nested more than {DEEPEST} deep")


class _Reader:
    """Turns nodes into data. An alias is read again at each use, so the count of nodes is of what results."""

    def __init__(self, problems: FileErrors) -> None:
        self.problems = problems
        self.nodes = 0

    def read(self, node: yaml.Node, at: KeyPath) -> Any:
        self.nodes += 1
        _refuse_excess(self.nodes, len(at) + 1)
        if at:
            self.problems.lines.setdefault(at, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, at)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.read(item, (*at, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, at)
        return self._refuse_tag(node, at)

    def _mapping(self, node: yaml.MappingNode, at: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.add(at, "a key should be a name, not a list or mapping", line)
                continue
            key = str(key_node.value)
            if key in found:
                first = self.problems.lines[(*at, key)]
                self.problems.add((*at, key), f"is given twice, first on line {first}", line)
                continue
            self.problems.lines[(*at, key)] = line
            found[key] = self.read(value_node, (*at, key))
        return found

    def _scalar(self, node: yaml.ScalarNode, at: KeyPath) -> Any:
        text = str(node.value)
        kind = node.tag.removeprefix(_TAG)
        if kind == "str":
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text in _TRUE
        if kind in ("int", "float"):
            return self._number(kind, text, at)
        return self._refuse_tag(node, at)

    def _number(self, kind: str, text: str, at: KeyPath) -> int | float | None:
        try:
            if kind == "int" and len(text) <= LONGEST_WHOLE:
                return int(text)
            if kind == "float" and math.isfinite(value := float(text)):
                return value
        except ValueError:
            pass
        self.problems.add(at, f"should be a finite number of moderate length, not {shown(text)}")
        return None

    def _refuse_tag(self, node: yaml.Node, at: KeyPath) -> None:
        self.problems.add(at, f"the tag {shown(node.tag)} is not allowed; plain values, lists and mappings are")
