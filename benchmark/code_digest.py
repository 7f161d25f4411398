"""Digests of a component's own code. A cell's id covers them, beside its settings and its data.

A digest covers the file that defines the component, the files of its base classes, and the files that these import from
their own folder or from the losses and backbones of this project. `code_tree` says which parts of a file count.
Installed packages do not count: a run records their versions. This project's files whose names begin with an underscore
do not count either: they are shared code, whose version is PROTOCOL_VERSION.
"""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import losses
from benchmark import backbones
from benchmark.code_tree import essential, imported
from benchmark.errors import InputError

PROJECT = "marginbench."
"""Files may also import this project's packages under this name."""
ROOMS = tuple(Path(room.__path__[0]).resolve() for room in (losses, backbones))


def loss_digest(name: str) -> str:
    """The digest of a loss's code."""
    return code_digest(losses.get(name))


def backbone_digest(name: str) -> str:
    """The digest of a backbone's code."""
    return code_digest(backbones.get(name))


def code_digest(component: type) -> str:
    """The digest of the code that defines a loss or a backbone, with its base classes.

    It does not depend on where the files lie, on their line endings or on their encoding.
    """
    files: dict[Path, None] = {}
    for one in component.__mro__:
        source = _source(one)
        if source is not None and _is_own(source, one, component):
            files |= dict.fromkeys(_reachable(source, [source.parent, *ROOMS]))
    if not files:
        raise InputError(f"{component.__name__} is not defined in a file, so its cells get no id; define it in a file")
    trees = sorted(essential(file.read_bytes()) for file in files)
    return hashlib.sha256("\n".join(trees).encode()).hexdigest()


def own_files(path: Path) -> list[Path]:
    """The file and the files of its folder that it imports, directly or through others, without shared code."""
    path = path.resolve()
    return _reachable(path, [path.parent])


def _reachable(path: Path, folders: Sequence[Path]) -> list[Path]:
    found = dict.fromkeys([path] if not _is_machinery(path) else [])
    for file in (waiting := list(found)):
        for helper in _imported_files(file, folders):
            if helper not in found and not _is_machinery(helper):
                found[helper] = None
                waiting.append(helper)
    return list(found)


def _imported_files(file: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """The imported files that lie in one of the folders, by relative or by full module name."""
    for level, name in imported(file.read_bytes()):
        parts = name.removeprefix(PROJECT).split(".") if name else []
        above = file.parents[level - 1] if level else None
        for folder in folders:
            for base in [above] if above else [folder, *_parents(folder, parts)]:
                place = base.joinpath(*parts)
                candidates = (place.with_name(f"{place.name}.py"), place / "__init__.py")
                yield from (one.resolve() for one in candidates if one.is_relative_to(folder) and one.is_file())


def _parents(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """The folder in which an absolute import such as `benchmark.backbones.convnet` starts."""
    for depth in range(1, min(len(parts), len(folder.parts)) + 1):
        if list(folder.parts[-depth:]) == list(parts[:depth]):
            yield folder.parents[depth - 1]


def _is_machinery(file: Path) -> bool:
    return file.parent in ROOMS and file.name.startswith("_")


def _source(component: type) -> Path | None:
    file = getattr(sys.modules.get(component.__module__), "__file__", None)
    return Path(file).resolve() if file and file.endswith(".py") else None


def _is_own(source: Path, base: type, component: type) -> bool:
    """Whether a base class belongs to this project, to the component's package or to its folder."""
    same_package = base.__module__.split(".")[0] == component.__module__.split(".")[0]
    return same_package or source.parent in ROOMS or source.parent == getattr(_source(component), "parent", None)
