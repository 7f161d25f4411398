"""The folder of one experiment: a folder for each finished run, a file for each failed one.

runs/<cell id>/   cell.json  history.csv  embeddings.safetensors: what training produced
                  metrics.json  jackknife.safetensors: what scoring computes from it
failed/<cell id>.json
checkpoints/ running/ locks/    for cells that are running
"""

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import safe_open

from benchmark.store.locks import CellLock, lock
from datasets._files import ASIDE, flush_folder, write_atomically, write_flushed
from datasets._names import ONLY_TEST

FILES = ("cell.json", "metrics.json", "history.csv", "embeddings.safetensors", "jackknife.safetensors")
REPLACED = ".replaced-"
"""The prefix of runs that a newer version replaces."""
LARGEST_JSON = 64 * 2**20
_ID = re.compile(r"[0-9a-f]{16}")


class DamagedError(Exception):
    """A stored run that changed after it was written."""


Values = TypeVar("Values")


@dataclass(frozen=True)
class Run:
    """A stored run, checked. Seen `on` one of its test sets, that set's values have the keys test/…, as those of a run
    with a single test set do, and the other test sets are left out."""

    id: str
    cell: dict[str, Any]
    outcome: dict[str, Any]  # the content of metrics.json
    folder: Path
    test_set: str | None = None  # the one that it is seen on

    @property
    def test_sets(self) -> list[str]:
        """The names of all its test sets; a run that chose settings has none."""
        return list(self.cell.get("test_sets", [ONLY_TEST]))

    @property
    def about_test_set(self) -> dict[str, Any]:
        """What is known of the test set that the run is seen on: `identities`, `sha256`."""
        known = self.cell.get("test_sets", {})
        return dict(known.get(self.test_set) or {}) if isinstance(known, dict) else {}

    def on(self, test_set: str) -> "Run":
        """The run as its result on one test set."""
        return replace(self, test_set=test_set)

    def _seen(self, values: Mapping[str, Values]) -> dict[str, Values]:
        """By stored keys → by the keys that this view has."""
        if self.test_set is None:
            return dict(values)
        others = tuple(f"{name}/" for name in self.test_sets if name != self.test_set)
        own = f"{self.test_set}/"
        return {
            f"{ONLY_TEST}/{key.removeprefix(own)}" if key.startswith(own) else key: value
            for key, value in values.items()
            if not key.startswith(others)
        }

    @property
    def metrics(self) -> dict[str, Any]:
        """By keys such as test/eer; a diverged run has none."""
        return self._seen(self.outcome["metrics"])

    @property
    def versions(self) -> dict[str, int]:
        """The versions of the measures that computed the metrics."""
        return dict(self.outcome["versions"])

    @property
    def diverged_at(self) -> int | None:
        """The step; None if training did not diverge."""
        step: int | None = self.outcome["diverged_at"]
        return step

    @property
    def diverged_reason(self) -> str:
        return str(self.outcome["diverged_reason"])

    def arrays(self, *names: str) -> dict[str, np.ndarray]:
        """The stored arrays: all of them, or those of the given names that exist."""
        return self._read("embeddings.safetensors", names)

    def jackknife(self) -> dict[str, np.ndarray]:
        """Each metric without each test identity in turn."""
        return self._read("jackknife.safetensors")

    def _read(self, file_name: str, names: Collection[str] = ()) -> dict[str, np.ndarray]:
        with safe_open(self.folder / file_name, framework="numpy") as file:
            stored = self._seen({name: name for name in sorted(file.keys())})
            return {seen: file.get_tensor(name) for seen, name in stored.items() if not names or seen in names}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The names of all stored arrays, without reading them."""
        with safe_open(self.folder / "embeddings.safetensors", framework="numpy") as file:
            return self._seen({name: tuple(file.get_slice(name).get_shape()) for name in sorted(file.keys())})

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

    def status(self, cell_id: str) -> Path:
        """What a cell is doing while it runs; its history so far is beside it, in a .csv file."""
        return self.folder / "running" / f"{cell_id}.json"

    def clear_running(self, cell_id: str) -> None:
        """Removes the files that a cell has only while it runs, except for its checkpoint."""
        for suffix in (".json", ".csv"):
            self.status(cell_id).with_suffix(suffix).unlink(missing_ok=True)

    def lock(self, cell_id: str) -> CellLock | None:
        """The right to run a cell; None while another runner has it."""
        return lock(self.folder / "locks" / f"{cell_id}.lock")

    def save(self, cell_id: str, files: Mapping[str, bytes], cell: Mapping[str, Any]) -> None:
        """Stores a run. `files` are all files except cell.json, which gets their checksums."""
        with self._written_aside(cell_id, files, {**cell, "checksums": checksums(files)}) as aside:
            if (self.runs / cell_id).exists():
                self.set_aside(cell_id)
            os.rename(aside, self.runs / cell_id)
            flush_folder(self.runs)
        (self.failed / f"{cell_id}.json").unlink(missing_ok=True)

    def replace(self, run: Run, files: Mapping[str, bytes]) -> None:
        """Stores a run again with some new files. The caller holds the cell's lock.

        After a kill either the old run or the new one is there; if neither was in place at that moment, `has` and
        `load_all` restore the old one.
        """
        place, old = self.runs / run.id, self.runs / f"{REPLACED}{run.id}"
        known = opened(place / "cell.json")
        sums = {**known["checksums"], **checksums(files)}
        with self._written_aside(run.id, files, {**known, "checksums": sums}) as aside:
            for name in sums.keys() - files.keys():
                _link(place / name, aside / name)
            flush_folder(aside)
            shutil.rmtree(old, ignore_errors=True)
            os.rename(place, old)
            os.rename(aside, place)
            flush_folder(self.runs)
        shutil.rmtree(old, ignore_errors=True)

    @contextmanager
    def _written_aside(self, cell_id: str, files: Mapping[str, bytes], cell: Mapping[str, Any]) -> Iterator[Path]:
        """A flushed temporary folder with the files and cell.json; it is removed unless the caller renames it."""
        self.runs.mkdir(parents=True, exist_ok=True)
        aside = self.runs / f"{ASIDE}{cell_id}-{secrets.token_hex(4)}"
        try:
            aside.mkdir()
            for name, content in files.items():
                write_flushed(aside / name, content)
            write_flushed(aside / "cell.json", sealed(cell))
            flush_folder(aside)
            yield aside
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _bring_back(self, cell_id: str) -> None:
        """Restores the old run if `replace` was killed half-way. Skips cells whose lock is held."""
        place, old = self.runs / cell_id, self.runs / f"{REPLACED}{cell_id}"
        held = self.lock(cell_id) if old.is_dir() else None
        if held is None:
            return
        if place.is_dir():
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(old, place)
        held.release()

    def set_aside(self, cell_id: str) -> Path:
        """Moves a damaged run to another folder, so that it can be inspected."""
        damaged = self.folder / "damaged"
        damaged.mkdir(parents=True, exist_ok=True)
        target = damaged / f"{cell_id}-{secrets.token_hex(4)}"
        os.rename(self.runs / cell_id, target)
        return target

    def has(self, cell_id: str) -> bool:
        self._bring_back(cell_id)
        return (self.runs / cell_id).is_dir()

    def load(self, cell_id: str) -> Run:
        """Loads a run and checks its files; `DamagedError` names the damaged one."""
        folder = self.runs / cell_id
        cell = opened(folder / "cell.json")
        known = cell.get("checksums", {})
        for name in {*FILES[1:], *known}:
            if not (folder / name).is_file():
                raise DamagedError(f"{folder / name} is missing")
            if checksum((folder / name).read_bytes()) != known.get(name):
                raise DamagedError(f"{folder / name} has changed since it was written")
        return Run(cell_id, cell, json.loads((folder / "metrics.json").read_bytes()), folder)

    def load_all(self) -> tuple[list[Run], list[str]]:
        """All intact runs sorted by id, and what is wrong with the others."""
        runs, problems = [], []
        for left in list(self.runs.glob(f"{REPLACED}*")):
            self._bring_back(left.name.removeprefix(REPLACED))
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
        """Why the cell failed the last time; None if it did not."""
        return self._read_failure(self.failed / f"{cell_id}.json")

    def failures(self) -> list[Failure]:
        """All cells that failed the last time, sorted by id."""
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
        """Removes half-written runs and checkpoints of killed runners. Files of locked cells stay: they may still be
        written."""
        for path in (*self.runs.glob(f"{ASIDE}*"), *(self.folder / "checkpoints").glob(f"{ASIDE}*")):
            held = self.lock(re.split("[.-]", path.name.removeprefix(ASIDE))[0])
            if held is not None:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
                held.release()


def _link(source: Path, target: Path) -> None:
    """Makes a hard link, or a copy if the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


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
