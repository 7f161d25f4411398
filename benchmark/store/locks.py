"""Locks of cells. The system releases a lock when the process that holds it ends, however it ends."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@dataclass
class CellLock:
    """Held until `release` or the end of the process."""

    path: Path
    handle: int

    def release(self) -> None:
        """Releases the lock. The file is removed first, while it is still locked."""
        if self.handle >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self.handle)
            self.handle = -1


def lock(path: Path) -> CellLock | None:
    """The lock of that name, or None while another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if not _lock(handle):
            os.close(handle)
            return None
        if _is_still_there(path, handle):
            return CellLock(path, handle)
        os.close(handle)  # its last holder removed it after we opened and before we locked it


def _lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _is_still_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False
