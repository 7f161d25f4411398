"""Files that list pairs: `pairs.csv` (path, path, same[, fold]) and LFW's pairs.txt."""

import csv
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from datasets._errors import InputError, MissingDataError
from datasets._named_pairs import NamedPair, NamedPairs
from datasets._pairs import FOLDS
from datasets._trees import class_of

MOST_BYTES = 1 << 26
NAMES = ("pairs.csv", "pairs.txt")
SAME = {"1": True, "true": True, "yes": True, "same": True}
SAME.update({"0": False, "false": False, "no": False, "different": False})


def find_pairs_file(tree: Path, named: str) -> Path | None:
    """The given file, or one with a usual name in the tree."""
    if named:
        path = tree / _inside(named, "option pairs")
        if not path.is_file():
            raise MissingDataError(f"the pairs file {path.absolute()} does not exist")
        return path
    return next((tree / name for name in NAMES if (tree / name).is_file()), None)


def read_pairs_file(file: Path, paths: Iterable[str] | None) -> NamedPairs:
    """The pairs whose images are among `paths`; None: all pairs, with paths as the file has them."""
    if file.stat().st_size > MOST_BYTES:
        raise InputError(f"{file} has {file.stat().st_size} bytes; expected at most {MOST_BYTES}")
    known = None if paths is None else set(paths)
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
        is_lfw = bool(lines) and re.fullmatch(r"\s*\d+(\s+\d+)?\s*", lines[0]) is not None
        found = _read_lfw(file, lines, known) if is_lfw else _read_csv(file, lines)
    except InputError:
        raise
    except (ValueError, csv.Error) as problem:
        raise InputError(f"{file} is not a list of pairs: {problem}") from problem
    named = dict.fromkeys(path for pair in found for path in (pair.first, pair.second))
    missing = {path for path in named if known is not None and path not in known}
    usable = tuple(pair for pair in found if pair.first not in missing and pair.second not in missing)
    if not usable:
        first = f"; the first missing image is {min(missing)!r}" if missing else ""
        raise InputError(f"{file}: none of its {len(found)} pairs has both images{first}")
    return NamedPairs(file, usable, len(found), len(missing))


def _read_csv(file: Path, lines: list[str]) -> list[NamedPair]:
    pairs = []
    for number, row in enumerate(csv.reader(lines), start=1):
        where = f"{file}, line {number}"
        cells = [cell.strip() for cell in row]
        if not any(cells) or (number == 1 and not re.search(r"[/\\]", cells[0])):
            continue  # an empty line, or a header: it names no path
        if len(cells) not in (3, 4) or cells[2].lower() not in SAME:
            raise InputError(f"{where}: expected path,path,same[,fold] with same 1 or 0, got {row!r}")
        first, second = (_inside(cell, where) for cell in cells[:2])
        fold = _fold(cells[3], where) if len(cells) == 4 else None
        pairs.append(_checked(first, second, SAME[cells[2].lower()], fold, where))
    return _folds_from_zero(file, pairs)


def _folds_from_zero(file: Path, pairs: list[NamedPair]) -> list[NamedPair]:
    """Folds may be counted from 0 or from 1."""
    folds = {pair.fold for pair in pairs if pair.fold is not None}
    if {0, FOLDS} <= folds:
        raise InputError(f"{file}: folds 0 and {FOLDS} both occur; expected 0 to {FOLDS - 1} or 1 to {FOLDS}")
    if min(folds, default=0) == 1 or FOLDS in folds:
        return [replace(pair, fold=None if pair.fold is None else pair.fold - 1) for pair in pairs]
    return pairs


def _read_lfw(file: Path, lines: list[str], known: set[str] | None) -> list[NamedPair]:
    """`name n m` is a pair of one person, `name n other m` one of two; image n of name is name/name_000n."""
    by_stem = {path.rpartition(".")[0]: path for path in known or ()}
    pairs = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) == 3:
            cells = [cells[0], cells[1], cells[0], cells[2]]
        if len(cells) != 4 or not (cells[1].strip().isdecimal() and cells[3].strip().isdecimal()):
            raise InputError(f"{where}: expected 'name n m' or 'name n name m', got {line!r}")
        stems = [_inside(f"{name}/{name}_{int(n):04d}", where) for name, n in (cells[:2], cells[2:])]
        first, second = (by_stem.get(stem, stem) for stem in stems)
        pairs.append(_checked(first, second, cells[0] == cells[2], None, where))
    header = [int(number) for number in lines[0].split()]
    return _lfw_folds(file, pairs, *header) if len(header) == 2 else pairs


def _lfw_folds(file: Path, pairs: list[NamedPair], folds: int, each: int) -> list[NamedPair]:
    """Each fold lists `each` pairs of one person, then as many of two. Where lines are gone, the order tells."""
    if folds not in range(2, FOLDS + 1):
        return pairs
    fold = [place // (2 * each) for place in range(len(pairs))] if len(pairs) == 2 * folds * each else []
    if not fold:
        starts = [not before.same and pair.same for before, pair in pairwise(pairs)]
        fold = np.cumsum([0, *starts]).tolist()
    if max(fold) != folds - 1:
        raise InputError(
            f"{file}: its first line announces {folds} folds of {each} + {each} pairs, but {len(pairs)} pairs came, "
            f"in {max(fold) + 1} folds; keep all lines: pairs of missing images are left out without harm to the others"
        )
    return [replace(pair, fold=number) for pair, number in zip(pairs, fold, strict=True)]


def _inside(path: str, where: str) -> str:
    """The path relative to the tree; a path outside of it is an error."""
    plain = PurePosixPath(path.replace("\\", "/"))
    if plain.is_absolute() or PureWindowsPath(path).drive or ".." in plain.parts:
        raise InputError(f"{where}: the path {path!r} is outside of the folder")
    return plain.as_posix()


def _fold(cell: str, where: str) -> int:
    if not re.fullmatch(r"\d|10", cell):
        raise InputError(f"{where}: expected a fold from 0 to 9, or from 1 to 10, got {cell!r}")
    return int(cell)


def _checked(first: str, second: str, same: bool, fold: int | None, where: str) -> NamedPair:
    if first == second:
        raise InputError(f"{where}: {first!r} is paired with itself")
    if same != (class_of(first) == class_of(second)):
        raise InputError(f"{where}: same is {same}, but the images are of {class_of(first)!r} and {class_of(second)!r}")
    return NamedPair(first, second, same, fold)
