"""Reads a tar archive as untrusted input, one member after another; nothing is unpacked to disk."""

import hashlib
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from datasets._errors import InputError


def check_md5(file: Path, official: str) -> None:
    with file.open("rb") as content:
        found = hashlib.file_digest(content, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found != official:
        raise InputError(
            f"{file}: expected the official MD5 checksum {official}, got {found}; remove the file and get it again"
        )


def read_archive(path: Path, *, most_members: int, most_bytes: int) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Name and content of each regular file; more than `most_members` files, or `most_bytes` in one, is an error."""
    try:
        with tarfile.open(path, "r|*") as archive:
            for number, member in enumerate(archive):
                _refuse(path, number, member, most_members, most_bytes)
                file = archive.extractfile(member) if member.isreg() else None
                if file is not None:
                    yield PurePosixPath(member.name), file.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a complete tar archive: {error}; remove it and get it again") from error


def _refuse(path: Path, number: int, member: tarfile.TarInfo, most_members: int, most_bytes: int) -> None:
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise InputError(f"{path}: member {member.name!r} points out of the archive")
    if not (member.isreg() or member.isdir()):
        raise InputError(f"{path}: member {member.name!r} is neither a file nor a folder")
    if number >= most_members:
        raise InputError(f"{path}: more than {most_members} members, the most that are read")
    if member.size > most_bytes:
        raise InputError(f"{path}: member {member.name!r} has {member.size} bytes; expected at most {most_bytes}")
