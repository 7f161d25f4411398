"""The folder of one experiment: a folder for each finished run, a file for each failed one.

runs/<cell id>/   cell.json  metrics.json  history.csv  embeddings.safetensors
failed/<cell id>.json
checkpoints/ locks/    for cells under way
"""

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from benchmark.store.files import ASIDE, flush_folder, write_atomically, write_flushed
from benchmark.store.locks import CellLock, lock

FILES = ("cell.json", "metrics.json", "history.csv", "embeddings.safetensors")
LARGEST_JSON = 64 * 2**20
_ID = re.compile(r"[0-9a-f]{16}")


class DamagedError(Exception):
    """A stored run that is not what was written."""


@dataclass(frozen=True)
class Run:
    """A stored run, checked."""

    id: str
    cell: dict[str, Any]
    metrics: dict[str, Any]
    folder: Path

    def arrays(self) -> dict[str, Tensor]:
        """Everything in embeddings.safetensors."""
        return safetensors.torch.load((self.folder / "embeddings.safetensors").read_bytes())

    def history(self) -> str:
        return (self.folder / "history.csv").read_text()


@dataclass(frozen=True)
class Failure:
    """A cell that has no result, and why."""

    id: str
    name: str
    reason: str
    cell: Mapping[str, Any]  # its description


class Store:
    """One experiment's results."""

    def __init__(self, results: Path, experiment: str) -> None:
        self.folder = results / experiment
        self.runs = self.folder / "runs"
        self.failed = self.folder / "failed"

    def checkpoint(self, cell_id: str) -> Path:
        return self.folder / "checkpoints" / f"{cell_id}.safetensors"

    def lock(self, cell_id: str) -> CellLock | None:
        """The right to run a cell; None while another runner has it."""
        return lock(self.folder / "locks" / f"{cell_id}.lock")

    def save(self, cell_id: str, files: Mapping[str, bytes], cell: Mapping[str, Any]) -> None:
        """Stores a run. `files` are all but cell.json, into which their checksums go."""
        self.runs.mkdir(parents=True, exist_ok=True)
        aside = self.runs / f"{ASIDE}{cell_id}-{secrets.token_hex(4)}"
        try:
            aside.mkdir()
            for name, content in files.items():
                write_flushed(aside / name, content)
            write_flushed(aside / "cell.json", sealed({**cell, "checksums": checksums(files)}))
            flush_folder(aside)
            self._put_in_place(aside, self.runs / cell_id)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        (self.failed / f"{cell_id}.json").unlink(missing_ok=True)

    def _put_in_place(self, aside: Path, place: Path) -> None:
        if place.exists():
            self.set_aside(place.name)
        os.rename(aside, place)
        flush_folder(self.runs)

    def set_aside(self, cell_id: str) -> Path:
        """Moves a damaged run out of the way, and keeps it for whoever wants to look."""
        damaged = self.folder / "damaged"
        damaged.mkdir(parents=True, exist_ok=True)
        target = damaged / f"{cell_id}-{secrets.token_hex(4)}"
        os.rename(self.runs / cell_id, target)
        return target

    def has(self, cell_id: str) -> bool:
        return (self.runs / cell_id).is_dir()

    def load(self, cell_id: str) -> Run:
        """A run whose files are whole; `DamagedError` says which one is not."""
        folder = self.runs / cell_id
        cell = opened(folder / "cell.json")
        known = cell.get("checksums", {})
        for name in {*FILES[1:], *known}:
            expected = known.get(name)
            if not (folder / name).is_file():
                raise DamagedError(f"{folder / name} is missing")
            if checksum((folder / name).read_bytes()) != expected:
                raise DamagedError(f"{folder / name} has changed since it was written")
        metrics = json.loads((folder / "metrics.json").read_bytes())
        return Run(cell_id, cell, metrics, folder)

    def load_all(self) -> tuple[list[Run], list[str]]:
        """All whole runs in the order of their ids, and what is wrong with the others."""
        runs, problems = [], []
        for folder in sorted(self.runs.glob("*")):
            if not _ID.fullmatch(folder.name):
                continue
            try:
                runs.append(self.load(folder.name))
            except DamagedError as problem:
                problems.append(str(problem))
        return runs, problems

    def record_failure(self, failure: Failure) -> None:
        write_atomically(self.failed / f"{failure.id}.json", _json(asdict(failure)))

    def failure(self, cell_id: str) -> Failure | None:
        """Why a cell failed the last time, if it did."""
        return self._read_failure(self.failed / f"{cell_id}.json")

    def failures(self) -> list[Failure]:
        """All cells that failed the last time, in the order of their ids."""
        found = [self._read_failure(path) for path in sorted(self.failed.glob("*.json"))]
        return [failure for failure in found if failure is not None]

    @staticmethod
    def _read_failure(path: Path) -> Failure | None:
        try:
            if path.stat().st_size > LARGEST_JSON:
                return None
            content = json.loads(path.read_bytes())
            return Failure(str(content["id"]), str(content["name"]), str(content["reason"]), dict(content["cell"]))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def clear_leftovers(self) -> None:
        """Removes runs that a killed runner left half written. Whoever holds a cell's lock may still be writing it."""
        for path in self.runs.glob(f"{ASIDE}*"):
            held = self.lock(path.name.removeprefix(ASIDE).partition("-")[0])
            if held is not None:
                shutil.rmtree(path, ignore_errors=True)
                held.release()


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: checksum(content) for name, content in sorted(files.items())}


def sealed(content: Mapping[str, Any]) -> bytes:
    """JSON with a checksum of its own."""
    return _json({**content, "checksum": checksum(_json(dict(content)))})


def opened(path: Path) -> dict[str, Any]:
    """What `sealed` wrote, or `DamagedError`."""
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise DamagedError(f"{path} is larger than {LARGEST_JSON >> 20} MB")
        content = json.loads(path.read_bytes())
        seal = content.pop("checksum")
    except FileNotFoundError as problem:
        raise DamagedError(f"{path} is missing") from problem
    except (ValueError, KeyError, AttributeError, UnicodeDecodeError) as problem:
        raise DamagedError(f"{path} cannot be read: {problem}") from problem
    if checksum(_json(content)) != seal:
        raise DamagedError(f"{path} has changed since it was written")
    return dict(content)


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
