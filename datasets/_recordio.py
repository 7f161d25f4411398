"""mxnet's RecordIO, `.rec` with an `.idx` beside it: insightface's training packs, and those of `im2rec`.

A record is a magic number, its length, the data, and padding to 4 bytes. An image record's data is a header (flag,
label, id, id2), `flag` more labels, and the image. Records without an image describe the pack in float32, which is
inexact above 2^24: they are not read.
"""

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets._cache import Arrays
from datasets._draws import Whole
from datasets._errors import InputError
from datasets._index import File, as_bytes, in_threads, kept_index
from datasets._record import HEADER, MAGIC, PART, WHOLE, image_of, join_parts
from datasets._source import MOST_BYTES, Spans

HEAD = np.dtype(
    [("magic", "<u4"), ("part", "<u4"), ("flag", "<u4"), ("label", "<f4"), ("id", "V16"), ("labels", "<f4")]
)
AT_ONCE = 1 << 14
MOST_LABEL = 1 << 24


class Records(Spans):
    """A record that was split into parts has a negative length: that of all its parts."""

    def __init__(self, files: list[File], arrays: Arrays) -> None:
        super().__init__(files, arrays)
        self.keys = arrays["keys"]

    def read(self, number: int) -> bytes:
        if self.length[number] >= 0:
            return super().read(number)
        return image_of(join_parts(self.files[0], int(self.offset[number]))[0])[1]

    def where(self, number: int) -> str:
        return f"{self.files[0].path}, record {self.keys[number]} (byte {self.offset[number]})"


def open_records(rec: Path, cache: Path) -> Records:
    """The pack of `rec` and of the `.idx` of the same name, if there is one; images in the order of their keys."""
    idx = rec.with_suffix(".idx")
    files = [File.at(rec), *([File.at(idx)] if idx.is_file() else [])]
    return Records(files, kept_index("recordio", files, cache, lambda: _index(files)))


def _index(files: list[File]) -> Arrays:
    rec = files[0]
    keys, offsets = _read_idx(files[1]) if len(files) > 1 else _walk(rec)
    for wrong in np.flatnonzero((offsets < 0) | (offsets > rec.size - PART.size)).tolist():
        points = f"key {keys[wrong]} points to byte {offsets[wrong]}"
        raise InputError(f"{files[-1].path}: {points}, but {rec.path} has {rec.size} bytes")
    chunks = np.array_split(offsets, max(1, -(-len(offsets) // AT_ONCE)))
    parts = in_threads(lambda chunk: _heads(rec, chunk), chunks, f"indexing {rec.path}", "records", AT_ONCE)
    start, length, label = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    image = length != 0
    if not image.any():
        raise InputError(f"{rec.path}: none of its {len(keys)} records has an image")
    start, length, label, keys = start[image], length[image], label[image], keys[image]
    for wrong in np.flatnonzero(~((label >= 0) & (label < MOST_LABEL) & (label == np.floor(label)))).tolist():
        expected = f"expected a class number from 0 to {MOST_LABEL - 1}, {label[wrong]} came"
        raise InputError(f"{rec.path}, record {keys[wrong]} (byte {start[wrong]}): {expected}")
    numbers, labels = np.unique(label.astype(np.int64), return_inverse=True)
    names = as_bytes(map(str, numbers.tolist()))
    where = {"file": np.zeros(len(keys), np.int32), "offset": start, "length": length, "keys": keys}
    return {**where, "labels": labels.astype(np.int64), "names": names}


def _read_idx(idx: File) -> tuple[Whole, Whole]:
    """Keys in ascending order, and the offset of each."""
    text = Path(idx.path).read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            numbers = np.fromstring(text, dtype=np.int64, sep=" ")
    except (ValueError, DeprecationWarning) as error:
        raise InputError(f"{idx.path}: expected lines 'key<TAB>offset': {error}") from error
    if not len(numbers) or len(numbers) % 2:
        raise InputError(f"{idx.path}: expected lines 'key<TAB>offset', {len(numbers)} numbers came")
    keys, first = np.unique(numbers[0::2], return_index=True)
    if len(keys) * 2 != len(numbers):
        raise InputError(f"{idx.path}: {len(numbers) // 2 - len(keys)} keys occur again")
    return keys, numbers[1::2][first]


def _walk(rec: File) -> tuple[Whole, Whole]:
    """Without an index: from record to record."""
    offsets = [0]
    while offsets[-1] < rec.size:
        offsets.append(join_parts(rec, offsets[-1], skim=True)[1])
    return np.arange(len(offsets) - 1), np.array(offsets[:-1], dtype=np.int64)


def _heads(rec: File, offsets: Whole) -> tuple[Whole, Whole, NDArray[np.float64]]:
    """Start and length of each record's image, and its label; length 0 where there is none."""
    read = rec.up_to(HEAD.itemsize)
    heads: NDArray[Any] = np.frombuffer(b"".join(read(at).ljust(HEAD.itemsize, b"\0") for at in offsets.tolist()), HEAD)
    kind, size = heads["part"] >> 29, (heads["part"] & ((1 << 29) - 1)).astype(np.int64)
    labels_size = 4 * heads["flag"].astype(np.int64)
    start, length = offsets + PART.size + HEADER.size + labels_size, size - HEADER.size - labels_size
    label = np.where(heads["flag"] > 0, heads["labels"], heads["label"]).astype(np.float64)
    odd = (
        (heads["magic"] != MAGIC) | (kind != WHOLE) | (length < 0) | (length > MOST_BYTES) | (start + length > rec.size)
    )
    for place in np.flatnonzero(odd).tolist():
        start[place], length[place], label[place] = _head_alone(rec, int(offsets[place]))
    return start, length, label


def _head_alone(rec: File, offset: int) -> tuple[int, int, float]:
    """A record that is split or wrong."""
    content, end = join_parts(rec, offset)
    try:
        label, image = image_of(content)
    except (struct.error, InputError) as error:
        raise InputError(f"{rec.path}, record at byte {offset}: its header is wrong: {error}") from error
    return offset, (offset - end) if image else 0, label
