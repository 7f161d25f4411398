"""One record of a RecordIO file, which may have been split where its data holds the magic number."""

import struct

from datasets._errors import InputError
from datasets._index import File
from datasets._source import MOST_BYTES

MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", MAGIC)
HEADER = struct.Struct("<IfQQ")
PART = struct.Struct("<II")
WHOLE, FIRST, MIDDLE, LAST = range(4)


def join_parts(rec: File, offset: int, *, skim: bool = False) -> tuple[bytes, int]:
    """The data of the record at `offset` (or nothing, if skimmed), and where the next one begins."""
    parts: list[bytes] = []
    begin, expected = offset, (WHOLE, FIRST)
    while True:
        magic, part = PART.unpack(rec.read(offset, PART.size))
        kind, length = part >> 29, part & ((1 << 29) - 1)
        if magic != MAGIC or kind not in expected:
            raise InputError(f"{rec.path}, byte {offset}: expected a record, which begins with {MAGIC_BYTES.hex()}")
        end = offset + PART.size + length
        if end > rec.size or end - begin > MOST_BYTES:
            most = f"at most {MOST_BYTES} are read" if end <= rec.size else f"the file ends at byte {rec.size}"
            raise InputError(f"{rec.path}, record at byte {begin}: it goes on to byte {end}, but {most}")
        parts.append(b"" if skim else rec.read(offset + PART.size, length))
        offset = end + -length % 4
        if kind in (WHOLE, LAST):
            return MAGIC_BYTES.join(parts), offset
        expected = (MIDDLE, LAST)


def image_of(content: bytes) -> tuple[float, bytes]:
    """The label of an image record, and the encoded image."""
    flag, label, _, _ = HEADER.unpack_from(content)
    if HEADER.size + 4 * flag > len(content):
        raise InputError(f"it announces {flag} labels, but has {len(content)} bytes")
    return struct.unpack_from("<f", content, HEADER.size)[0] if flag else label, content[HEADER.size + 4 * flag :]
