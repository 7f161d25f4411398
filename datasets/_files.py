"""Writes files atomically: to a temporary name, flushed to disk, then renamed."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ASIDE = ".aside-"
"""The prefix of unfinished files and folders."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; the file is flushed and renamed at the end, or removed after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{ASIDE}{path.name}-{secrets.token_hex(4)}")
    try:
        yield aside
        with aside.open("r+b") as file:
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    flush_folder(path.parent)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file; it has its old or its new content, never a part of it."""
    with whole_file(path) as aside:
        aside.write_bytes(content)


def write_flushed(path: Path, content: bytes) -> None:
    """Writes a file of a folder that is itself renamed later."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Makes renames inside the folder durable, if the system supports it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
