"""A tree of images, class/image.png, inside a `.zip`."""

from __future__ import annotations

import hashlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from datasets._cache import Arrays
from datasets._errors import InputError
from datasets._index import File, as_bytes, kept_index, texts
from datasets._source import MOST_BYTES, Spans
from datasets._trees import SUFFIXES, class_of, is_image

STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
LOCAL = struct.Struct("<4s22xHH")
MOST_GROWTH = 50
"""How many times its own size a zip's images may have. Encoded images hardly shrink; a zip bomb does."""


class ZippedTree(Spans):
    """Images sorted by class and file name, as in a `Tree`. Nothing is unpacked to disk."""

    def __init__(self, files: Sequence[File], arrays: Arrays) -> None:
        super().__init__(files, arrays)
        self.paths, self.size, self.crc = texts(arrays["paths"]), arrays["size"], arrays["crc"]

    def read(self, number: int) -> bytes:
        content, size = super().read(number), int(self.size[number])
        if size != len(content):
            try:
                content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, size + 1)
            except zlib.error as error:
                raise InputError(f"its compressed data is damaged: {error}") from error
        if len(content) != size or zlib.crc32(content) != self.crc[number]:
            raise InputError("its size or checksum is not the one that the zip states")
        return content

    def where(self, number: int) -> str:
        return f"{self.files[0].path}, {self.paths[number]}"

    def fingerprint(self) -> str:
        lines = (f"{path} {crc}\n" for path, crc in zip(self.paths, self.crc.tolist(), strict=True))
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def open_zip(path: Path, cache: Path) -> ZippedTree:
    file = File.at(path)
    return ZippedTree([file], kept_index("zip", [file], cache, lambda: _index_zip(file)))


def _index_zip(file: File) -> Arrays:
    try:
        with zipfile.ZipFile(file.path) as archive:
            members = [member for member in archive.infolist() if _wanted(file, member)]
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise (
            error if isinstance(error, InputError) else InputError(f"{file.path} is not a whole zip: {error}")
        ) from error
    if sum(member.file_size for member in members) > MOST_GROWTH * file.size + MOST_BYTES:
        raise InputError(f"{file.path}: its images would have more than {MOST_GROWTH} times its size; it is not read")
    paths = _without_common_folder([member.filename for member in members])
    order = sorted(
        (number for number, path in enumerate(paths) if path.count("/") == 1), key=lambda n: paths[n].split("/")
    )
    if not order:
        raise InputError(f"{file.path} holds no class/image that ends in {', '.join(sorted(SUFFIXES))}")
    chosen = [members[number] for number in order]
    names, labels = np.unique([class_of(paths[number]) for number in order], return_inverse=True)
    sizes = np.array([(one.compress_size, one.file_size, one.CRC) for one in chosen], dtype=np.int64)
    return {
        "file": np.zeros(len(order), dtype=np.int32),
        "offset": np.array([_data_offset(file, one) for one in chosen], dtype=np.int64),
        **dict(zip(("length", "size", "crc"), np.ascontiguousarray(sizes.T), strict=True)),
        "labels": labels.astype(np.int64),
        "paths": as_bytes(paths[number] for number in order),
        "names": as_bytes(names.tolist()),
    }


def _wanted(file: File, member: zipfile.ZipInfo) -> bool:
    """Whether it is an image; what no image has is refused."""
    where = f"{file.path}: member {member.filename[:200]!r}"
    path = PurePosixPath(member.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
        raise InputError(f"{where} points out of the archive")
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise InputError(f"{where} is neither a file nor a folder")
    if member.is_dir() or not is_image(path.name) or "__MACOSX" in path.parts:
        return False
    if member.flag_bits & 1 or member.compress_type not in (STORED, DEFLATED):
        raise InputError(f"{where} is encrypted or compressed in an unusual way; zip it again with deflate")
    if max(member.file_size, member.compress_size) > MOST_BYTES:
        raise InputError(f"{where} has {member.file_size} bytes, at most {MOST_BYTES} are read")
    return True


def _data_offset(file: File, member: zipfile.ZipInfo) -> int:
    signature, name, extra = LOCAL.unpack(file.read(member.header_offset, LOCAL.size))
    begin = member.header_offset + LOCAL.size + name + extra
    if signature != b"PK\3\4" or begin + member.compress_size > file.size:
        raise InputError(f"{file.path}: there is no {member.filename!r} at byte {member.header_offset}")
    return int(begin)


def _without_common_folder(paths: list[str]) -> list[str]:
    """`class/image` also where all classes are in one folder."""
    while paths and len({path.partition("/")[0] for path in paths}) == 1 and all(path.count("/") > 1 for path in paths):
        paths = [path.partition("/")[2] for path in paths]
    return paths
