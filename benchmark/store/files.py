"""Writing that survives a kill at any moment: aside, flushed to the disk, renamed."""

import os
import secrets
from pathlib import Path

ASIDE = ".aside-"
"""How names of unfinished files and folders begin."""


def write_atomically(path: Path, content: bytes) -> None:
    """The file has its old content or the new one, never a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{ASIDE}{path.name}-{secrets.token_hex(4)}")
    try:
        write_flushed(aside, content)
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def write_flushed(path: Path, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Makes renames inside the folder durable, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
