"""The folder of the data and the folder of the cache."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    root: Path
    chosen_cache: Path | None = None

    @property
    def cache(self) -> Path:
        """The given folder, else MARGINBENCH_CACHE, else `.cache` in root, else the user's cache folder."""
        chosen = self.chosen_cache or _from_environment("MARGINBENCH_CACHE")
        if chosen is not None:
            return chosen
        inside = self.root / ".cache"
        if _writable(inside):
            return inside
        return (_from_environment("XDG_CACHE_HOME") or Path.home() / ".cache") / "marginbench"


def place(root: str | os.PathLike[str] | None, cache: str | os.PathLike[str] | None) -> Place:
    folder = Path(root) if root is not None else _from_environment("MARGINBENCH_DATA") or Path("data")
    return Place(folder.expanduser(), Path(cache).expanduser() if cache is not None else None)


def _from_environment(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else None


def _writable(folder: Path) -> bool:
    """Whether the folder has write permission. A folder without it stays unchanged, even for a superuser."""
    try:
        existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not existing.stat().st_mode & 0o222:
            return False
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
