"""Writers of the formats that faces come in, each as the tools of the field write it."""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image

MAGIC = struct.pack("<I", 0xCED7230A)
Images = Sequence[tuple[str, bytes]]  # person/image.jpg and the encoded image, sorted


def jpeg(seed: int, size: int = 16, mode: str = "RGB", **options: object) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    image = Image.fromarray(pixels).resize((size, size), Image.Resampling.BICUBIC).convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **{"quality": 92, **options})
    return buffer.getvalue()


def some_images(people: int, each: int, size: int = 16, first: int = 0) -> list[tuple[str, bytes]]:
    names = [f"p{person:03d}" for person in range(first, first + people)]
    return [
        (f"{name}/{name}_{number:04d}.jpg", jpeg(1000 * (first + person) + number, size))
        for person, name in enumerate(names)
        for number in range(1, each + 1)
    ]


def labels_of(images: Images) -> list[int]:
    names = sorted({path.split("/")[0] for path, _ in images})
    return [names.index(path.split("/")[0]) for path, _ in images]


def write_tree(folder: Path, images: Images) -> Path:
    for path, content in images:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def write_zip(file: Path, images: Images, top: str = "", method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(file, "w", method) as archive:
        for path, content in reversed(images):
            archive.writestr(f"{top}{path}", content)
    return file


def record(data: bytes) -> bytes:
    """One record; where the magic number is inside the data it is split there, as dmlc does it."""
    places = [place for place in range(0, len(data) - 3, 4) if data[place : place + 4] == MAGIC]
    edges = [-4, *places, len(data)]
    parts = [data[left + 4 : right] for left, right in pairwise(edges)]
    kinds = [0] if len(parts) == 1 else [1, *[2] * (len(parts) - 2), 3]
    return b"".join(
        MAGIC + struct.pack("<I", kind << 29 | len(part)) + part + bytes(-len(part) % 4)
        for kind, part in zip(kinds, parts, strict=True)
    )


def image_record(content: bytes, label: float, key: int, labels: int = 0) -> bytes:
    more = struct.pack(f"<{labels}f", *[label, *[0.0] * (labels - 1)]) if labels else b""
    return struct.pack("<IfQQ", labels, 0.0 if labels else label, key, 0) + more + content


def write_rec(file: Path, images: Images, *, header: bool = True, shuffled: bool = False, labels: int = 0) -> Path:
    """insightface's layout (record 0, images from key 1, one record per person), or im2rec's without a header."""
    numbers = labels_of(images)
    first = 1 if header else 0
    records = [(first + n, image_record(images[n][1], numbers[n], n, labels)) for n in range(len(images))]
    if header:
        people, end = max(numbers) + 1, first + len(images)
        for person in range(people):
            keys = [first + n for n, label in enumerate(numbers) if label == person]
            data = struct.pack("<IfQQ2f", 2, 0, end + person, 0, keys[0], keys[-1] + 1)
            records.append((end + person, data))
        records.append((0, struct.pack("<IfQQ2f", 2, 0, 0, 0, end, end + people)))
    return write_records(file, records[::-1] if shuffled else records)


def write_records(file: Path, records: Iterable[tuple[int, bytes]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines, content = [], b""
    for key, data in records:
        lines.append(f"{key}\t{len(content)}\n")
        content += record(data)
    file.write_bytes(content)
    file.with_suffix(".idx").write_text("".join(lines))
    return file


def write_shards(folder: Path, images: Images, shards: int = 2, packed: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(zip(images, labels_of(images), strict=True))
    for number, part in enumerate(np.array_split(np.arange(len(rows)), shards)):
        name = f"shard-{number:04d}.tar" + (".gz" if packed else "")
        with tarfile.open(folder / name, f"w:{packed}") as archive:
            for row in part.tolist():
                (_, content), label = rows[row]
                for suffix, data in (("cls", str(label).encode()), ("jpg", content)):
                    member = tarfile.TarInfo(f"{row:08d}.{suffix}")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))
    return folder


def write_bin(file: Path, images: Sequence[bytes], same: Sequence[bool], protocol: int = 4) -> Path:
    file.write_bytes(pickle.dumps((list(images), list(same)), protocol=protocol))
    return file


def write_parquet(file: Path, images: Sequence[bytes], same: Sequence[bool], struct_images: bool = False) -> Path:
    import pyarrow
    from pyarrow import parquet

    columns = {f"image{n + 1}": list(images[n::2]) for n in range(2)}
    if struct_images:
        columns = {name: [{"bytes": one, "path": None} for one in rows] for name, rows in columns.items()}
    parquet.write_table(pyarrow.table({**columns, "target": [int(one) for one in same]}), file)
    return file
