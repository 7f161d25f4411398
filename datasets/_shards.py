"""WebDataset shards: `.tar` or `.tar.gz` with members `key.jpg` and `key.cls`, one file or many."""

import gzip
import hashlib
import io
import os
import shutil
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np

from datasets._cache import Arrays
from datasets._errors import InputError
from datasets._files import whole_file
from datasets._index import File, as_bytes, in_threads, kept_index
from datasets._source import MOST_BYTES, Spans
from datasets._trees import SUFFIXES

MOST_GROWTH = 20
"""How many times its compressed size a shard may have. Encoded images hardly shrink; a bomb does."""
BLOCK = tarfile.BLOCKSIZE
GZIP = b"\x1f\x8b"
DAMAGED = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile)


class _Careful(io.BufferedReader):
    """Refuses to read as much as a hostile header announces."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > MOST_BYTES:
            raise InputError(f"byte {self.tell()}: a header announces {size} bytes; expected at most {MOST_BYTES}")
        return super().read(size)


def open_shards(paths: Sequence[Path], cache: Path) -> Spans:
    """All shards in the order of their names, each in its own order."""
    files = [_plain(File.at(path), cache) for path in sorted(paths)]
    return Spans(files, kept_index("shards", files, cache, lambda: _index(files)))


def _plain(shard: File, cache: Path) -> File:
    """The shard itself, or an uncompressed copy in the cache, in which images can be read in any order."""
    with open(shard.path, "rb") as content:
        if content.read(2) != GZIP:
            return shard
    mark = hashlib.sha256(os.fsencode(f"{shard.path} {shard.size} {shard.time}")).hexdigest()[:16]
    copy = cache / f"shard-{mark}.tar"
    if not copy.exists():
        most = min(MOST_GROWTH * shard.size + MOST_BYTES, shutil.disk_usage(_made(cache)).free)
        try:
            with whole_file(copy) as aside, gzip.open(shard.path) as packed, aside.open("wb") as plain:
                _copy(packed, plain, most, shard)
        except DAMAGED as error:
            raise InputError(f"{shard.path} is not a whole .tar.gz: {error}; get it again") from error
    return File.at(copy)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _copy(packed: gzip.GzipFile, plain: IO[bytes], most: int, shard: File) -> None:
    while chunk := packed.read(1 << 20):
        if plain.tell() + len(chunk) > most:
            raise InputError(
                f"{shard.path} grows to more than {most} bytes: {MOST_GROWTH} times its size, or all room in the cache"
            )
        plain.write(chunk)


def _index(files: Sequence[File]) -> Arrays:
    parts = in_threads(_index_one, files, "indexing shards", "shard")
    if not any(len(part) for part in parts):
        raise InputError(f"{files[0].path}: no member is an image with a label, key.jpg and key.cls")
    rows = np.concatenate([np.array(part, dtype=np.int64).reshape(-1, 3) for part in parts])
    numbers, labels = np.unique(rows[:, 2], return_inverse=True)
    return {
        "file": np.repeat(np.arange(len(files), dtype=np.int32), [len(part) for part in parts]),
        "offset": rows[:, 0].copy(),
        "length": rows[:, 1].copy(),
        "labels": labels.astype(np.int64),
        "names": as_bytes(map(str, numbers.tolist())),
    }


def _index_one(shard: File) -> list[tuple[int, int, int]]:
    """Offset, length and label of each image."""
    try:
        with _Careful(io.FileIO(shard.path)) as content, tarfile.open(fileobj=content, mode="r:") as archive:
            rows = _samples(shard, archive)
            content.seek(archive.offset)
            if content.read(BLOCK).strip(b"\0") or archive.offset >= shard.size:
                raise InputError(f"byte {archive.offset}: expected a tar header or the end mark")
            return rows
    except InputError as error:
        raise InputError(f"{shard.path}, {error}") from error
    except DAMAGED as error:
        raise InputError(f"{shard.path} is not a whole tar: {error}; get it again") from error


def _samples(shard: File, archive: tarfile.TarFile) -> list[tuple[int, int, int]]:
    """Members of one sample have the same name up to the first dot, and follow each other."""
    rows: list[tuple[int, int, int]] = []
    key, image, label = "", None, None
    for member in [*archive, None]:
        found = _key(member) if member is not None else ""
        if found != key or member is None:
            if image is not None:
                if label is None:
                    raise InputError(f"byte {image.offset}: the image {image.name!r} has no label {key}.cls beside it")
                rows.append((image.offset_data, image.size, label))
            key, image, label = found, None, None
        if member is None or not member.isreg():
            continue
        suffix = PurePosixPath(member.name).suffix.lower()
        if suffix in SUFFIXES:
            image = member
        elif suffix == ".cls":
            label = _label(archive, member)
    return rows


def _key(member: tarfile.TarInfo) -> str:
    path = PurePosixPath(member.name)
    where = f"byte {member.offset}: member {member.name[:200]!r}"
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{where} points out of the archive")
    if member.issparse() or not (member.isreg() or member.isdir()):
        raise InputError(f"{where} is neither a file nor a folder")
    if member.size > MOST_BYTES:
        raise InputError(f"{where} has {member.size} bytes; expected at most {MOST_BYTES}")
    return str(path.parent / path.name.partition(".")[0])


def _label(archive: tarfile.TarFile, member: tarfile.TarInfo) -> int:
    file = archive.extractfile(member)
    text = file.read(32).strip() if file is not None and member.size <= 32 else b""
    if not text.isdigit() or len(text) > 9:
        raise InputError(f"byte {member.offset}: {member.name[:200]!r} is not a class number: {text[:32]!r}")
    return int(text)
