"""Reads the pairs of a dataset from `pairs.csv` (path, path, same[, fold]) or from a file like LFW's pairs.txt, and
assigns them to the test split and to folds."""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
import torch
from torch import Tensor

from datasets._data import Pairs
from datasets._decoding import class_of
from datasets._draws import Draws, Whole
from datasets._errors import InputError, MissingDataError
from datasets._pairs import FOLDS

MOST_BYTES = 1 << 26
NAMES = ("pairs.csv", "pairs.txt")
SAME = {"1": True, "true": True, "yes": True, "same": True}
SAME.update({"0": False, "false": False, "no": False, "different": False})


@dataclass(frozen=True)
class NamedPair:
    first: str
    second: str
    same: bool
    fold: int | None


def find_pairs_file(tree: Path, named: str) -> Path | None:
    """The given file, or one with a usual name in the tree."""
    if named:
        path = tree / _inside(named, "option pairs")
        if not path.is_file():
            raise MissingDataError(f"folder: the pairs file {path.absolute()} does not exist")
        return path
    return next((tree / name for name in NAMES if (tree / name).is_file()), None)


def read_pairs_file(file: Path, paths: Iterable[str]) -> list[NamedPair]:
    """The pairs, without repeats; `paths` are the existing images."""
    if file.stat().st_size > MOST_BYTES:
        raise InputError(f"{file} has {file.stat().st_size} bytes; expected at most {MOST_BYTES}")
    known = set(paths)
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
        is_lfw = bool(lines) and re.fullmatch(r"\s*\d+(\s+\d+)?\s*", lines[0]) is not None
        found = _read_lfw(file, lines, known) if is_lfw else _read_csv(file, lines, known)
    except InputError:
        raise
    except (ValueError, csv.Error) as problem:
        raise InputError(f"{file} is not a list of pairs: {problem}") from problem
    once: dict[frozenset[str], NamedPair] = {}
    for pair in found:
        once.setdefault(frozenset((pair.first, pair.second)), pair)
    return list(once.values())


def _read_csv(file: Path, lines: list[str], known: set[str]) -> list[NamedPair]:
    pairs = []
    for number, row in enumerate(csv.reader(lines), start=1):
        where = f"{file}, line {number}"
        cells = [cell.strip() for cell in row]
        if not any(cells) or (number == 1 and not re.search(r"[/\\]", cells[0])):
            continue  # an empty line, or a header: it names no path
        if len(cells) not in (3, 4) or cells[2].lower() not in SAME:
            raise InputError(f"{where}: expected path,path,same[,fold] with same 1 or 0, got {row!r}")
        first, second = (_known(_inside(cell, where), known, where) for cell in cells[:2])
        fold = _fold(cells[3], where) if len(cells) == 4 else None
        pairs.append(_checked(first, second, SAME[cells[2].lower()], fold, where))
    return pairs


def _read_lfw(file: Path, lines: list[str], known: set[str]) -> list[NamedPair]:
    """`name n m` is a pair of one person, `name n other m` one of two; image n of name is name/name_000n."""
    by_stem = {path.rpartition(".")[0]: path for path in known}
    header = [int(number) for number in lines[0].split()]
    rows = [(number, line) for number, line in enumerate(lines[1:], start=2) if line.strip()]
    folds, each = header if len(header) == 2 else (1, 0)
    in_folds = folds in range(2, 11) and len(rows) == 2 * folds * each
    pairs = []
    for place, (number, line) in enumerate(rows):
        where = f"{file}, line {number}"
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) == 3:
            cells = [cells[0], cells[1], cells[0], cells[2]]
        if len(cells) != 4 or not (cells[1].strip().isdecimal() and cells[3].strip().isdecimal()):
            raise InputError(f"{where}: expected 'name n m' or 'name n name m', got {line!r}")
        stems = [_inside(f"{name}/{name}_{int(n):04d}", where) for name, n in (cells[:2], cells[2:])]
        first, second = (_known(by_stem.get(stem, stem), known, where) for stem in stems)
        fold = place // (2 * each) if in_folds else None
        pairs.append(_checked(first, second, cells[0] == cells[2], fold, where))
    return pairs


def _inside(path: str, where: str) -> str:
    """The path relative to the tree; a path outside of it is an error."""
    plain = PurePosixPath(path.replace("\\", "/"))
    if plain.is_absolute() or PureWindowsPath(path).drive or ".." in plain.parts:
        raise InputError(f"{where}: the path {path!r} is outside of the folder")
    return plain.as_posix()


def _known(path: str, known: set[str], where: str) -> str:
    if path not in known:
        raise InputError(f"{where}: there is no image {path!r} in the folder")
    return path


def _fold(cell: str, where: str) -> int:
    if not re.fullmatch(r"\d", cell):
        raise InputError(f"{where}: expected a fold from 0 to 9, got {cell!r}")
    return int(cell)


def _checked(first: str, second: str, same: bool, fold: int | None, where: str) -> NamedPair:
    if first == second:
        raise InputError(f"{where}: {first!r} is paired with itself")
    if same != (class_of(first) == class_of(second)):
        raise InputError(f"{where}: same is {same}, but the images are of {class_of(first)!r} and {class_of(second)!r}")
    return NamedPair(first, second, same, fold)


@dataclass(frozen=True)
class Named:
    """The existing images by path, and their pairs, if any were given."""

    paths: list[str]
    pairs: list[NamedPair] | None

    @cached_property
    def images(self) -> set[str]:
        return {path for pair in self.pairs or [] for path in (pair.first, pair.second)}

    @cached_property
    def classes(self) -> set[str]:
        return {class_of(path) for path in self.images}


def pairs_in_split(
    named: list[NamedPair], paths: list[str], labels: Tensor, seed: int
) -> tuple[Pairs, tuple[str, ...]]:
    """Pairs as indices into the split; pairs with an image that was left out are dropped, with a note."""
    place = {path: number for number, path in enumerate(paths)}
    usable = [pair for pair in named if pair.first in place and pair.second in place]
    dropped = len(named) - len(usable)
    notes = (f"folder: {dropped} of {len(named)} pairs name an image that was left out",) if dropped else ()
    places = [(place[pair.first], place[pair.second]) for pair in usable]
    pairs = np.array(places, dtype=np.int64).reshape(-1, 2)
    same = np.array([pair.same for pair in usable], dtype=bool)
    if any(pair.fold is None for pair in usable):
        fold = fold_pairs(labels.numpy()[pairs], seed)
    else:
        fold = np.array([pair.fold for pair in usable], dtype=np.int64)
    given = Pairs(torch.from_numpy(pairs), torch.from_numpy(same), torch.from_numpy(fold), drawn=False)
    return given, notes


def fold_pairs(identities: Whole, seed: int) -> Whole:
    """Folds that share no identity if each can then have pairs of both kinds; otherwise random folds."""
    same = identities[:, 0] == identities[:, 1]
    group = _linked(identities)
    sizes = Counter(group.tolist())
    load = np.zeros(FOLDS, dtype=np.int64)
    fold_of: dict[int, int] = {}
    for number, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        fold_of[number] = int(load.argmin())
        load[fold_of[number]] += size
    fold = np.array([fold_of[number] for number in group.tolist()], dtype=np.int64)
    if all(len(set(same[fold == number].tolist())) == 2 for number in range(FOLDS)):
        return fold
    draws = Draws("folds of given pairs", seed)
    for kind in (True, False):
        members = np.flatnonzero(same == kind)
        fold[members] = draws.permutation(len(members)) % FOLDS
    return fold


def _linked(identities: Whole) -> Whole:
    """For each pair the group of identities that are connected by pairs."""
    parent = {identity: identity for identity in identities.flatten().tolist()}

    def top(identity: int) -> int:
        while parent[identity] != identity:
            parent[identity] = parent[parent[identity]]
            identity = parent[identity]
        return identity

    for one, other in identities.tolist():
        parent[top(one)] = top(other)
    return np.array([top(one) for one in identities[:, 0].tolist()], dtype=np.int64)
