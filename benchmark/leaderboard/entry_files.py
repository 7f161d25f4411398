"""Reads entry files, which are untrusted: a file that is too large, malformed or misnamed is refused."""

import json
import math
import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmark.errors import InputError
from benchmark.leaderboard.entries import Entry
from benchmark.spec.file_errors import dotted
from datasets._names import shown

LARGEST_FILE = 4 * 2**20
LARGEST_WHOLE = 2**53
DEEPEST = 12
MOST_SHOWN = 3


class EntryError(InputError):
    """Why a file is not an entry; the message begins with the file's name."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file, self.reason = file, reason


@dataclass
class Entries:
    """The valid entries of a folder by name, and why the other files were refused."""

    sound: dict[str, Entry] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # by the file's name


def read_entries(folder: Path) -> Entries:
    """Reads every .json file of a folder; an invalid one does not affect the others."""
    found = Entries()
    for path in sorted(folder.glob("*.json")):
        try:
            found.sound[path.stem] = read_entry(path)
        except EntryError as problem:
            found.refused[problem.file] = problem.reason
    return found


def read_entry(path: Path) -> Entry:
    """The entry in a file, or `EntryError`."""
    try:
        entry = parse(_content(path))
    except ValueError as problem:
        raise EntryError(_printable(path.name), str(problem)) from problem
    if path.name != f"{entry.name}.json":
        raise EntryError(_printable(path.name), f"its content belongs in a file named {entry.name}.json")
    return entry


def parse(content: bytes) -> Entry:
    """An entry from its JSON; `ValueError` says what is wrong and quotes little of it."""
    try:
        data = json.loads(content.decode(), object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
        _check_plain(data, 0)
        return Entry.model_validate(data)
    except RecursionError:
        raise InputError("is nested too deeply") from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None
    except json.JSONDecodeError as problem:
        raise InputError(f"is not JSON: {problem.msg} (line {problem.lineno})") from None
    except ValidationError as problem:
        raise InputError("; ".join(_in_words(problem))) from None


def _content(path: Path) -> bytes:
    """The bytes of a regular file; links are not followed and devices are not opened."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as problem:
        raise InputError(f"cannot be read as a regular file: {problem.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError("is not a regular file")
    with open(handle, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise InputError(f"is larger than {LARGEST_FILE >> 20} MB")
    return content


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the key {shown(twice)} is given twice")
    return found


def _refuse_constant(word: str) -> None:
    raise InputError(f"{word} is not a JSON number; write null for a missing value")


def _check_plain(value: Any, depth: int) -> None:
    """Refuses infinite or huge numbers, and texts with markup or invisible characters."""
    if depth > DEEPEST:
        raise InputError("is nested too deeply")
    if isinstance(value, dict):
        for key, one in value.items():
            check_text(key)
            _check_plain(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            _check_plain(one, depth + 1)
    elif isinstance(value, str):
        check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError("a number is too large")
    elif isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise InputError("a whole number is too large")


def check_text(text: str) -> None:
    """Refuses what looks like HTML, and control characters other than the newline."""
    for place, mark in enumerate(text):
        following = text[place + 1 : place + 2]
        if mark == "<" and (following in ("/", "!", "?") or (following.isascii() and following.isalpha())):
            raise InputError(f"{shown(text[place : place + 20])} looks like HTML; a plain < needs a space after it")
        if mark != "\n" and unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
            raise InputError(f"the text {shown(text[:40])} has the invisible character U+{ord(mark):04X}")


def _in_words(problem: ValidationError) -> Iterator[str]:
    details = problem.errors(include_url=False)
    for detail in details[:MOST_SHOWN]:
        at = f"{dotted(detail['loc'])}: " if detail["loc"] else ""
        message = detail["msg"].removeprefix("Value error, ")
        if detail["type"] not in ("value_error", "missing", "extra_forbidden"):
            message += f", not {shown(detail['input'])}"
        yield f"{at}{message}"
    if len(details) > MOST_SHOWN:
        yield f"… and {len(details) - MOST_SHOWN} more"


def _printable(name: str) -> str:
    return name if name.isprintable() else shown(name)
