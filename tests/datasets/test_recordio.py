"""RecordIO: what mxnet, insightface and im2rec write, and files that are not what they should be."""

from __future__ import annotations

import os
import pickle
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from datasets._index import _handle
from datasets._recordio import open_records
from tests.datasets.packs import MAGIC, image_record, jpeg, record, some_images, write_rec, write_records

REAL = Path(os.environ.get("MARGINBENCH_DATA") or "nowhere") / "faces_lfw_112x112" / "train.rec"
IMAGES = some_images(3, 4)


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("shuffled", [True, False])
@pytest.mark.parametrize("labels", [0, 1, 2, 5])
def test_every_variant_gives_the_same_images(tmp_path: Path, header: bool, shuffled: bool, labels: int) -> None:
    file = write_rec(tmp_path / "train.rec", IMAGES, header=header, shuffled=shuffled, labels=labels)
    pack = open_records(file, tmp_path / "cache")
    assert [pack.read(number) for number in range(len(pack))] == [content for _, content in IMAGES]
    assert pack.labels.tolist() == np.repeat(np.arange(3), 4).tolist()
    assert pack.names == ("0", "1", "2")
    assert pack.where(0).startswith(f"{file}, record {int(header)} (byte ")


def test_a_pack_without_index_is_walked(tmp_path: Path) -> None:
    file = write_rec(tmp_path / "train.rec", IMAGES, header=False)
    file.with_suffix(".idx").unlink()
    pack = open_records(file, tmp_path / "cache")
    assert [pack.read(number) for number in range(len(pack))] == [content for _, content in IMAGES]


def test_records_that_were_split_are_joined(tmp_path: Path) -> None:
    contents = [b"\xff\xd8\xff\xe0" + MAGIC + b"ab" * 6 + MAGIC + MAGIC + b"abc", jpeg(1), MAGIC * 3]
    records = [(key, image_record(content, 7, key)) for key, content in enumerate(contents)]
    assert [record(data).count(MAGIC) for _, data in records] == [4, 1, 4]
    for walked in (False, True):
        file = write_records(tmp_path / f"{walked}.rec", records)
        if walked:
            file.with_suffix(".idx").unlink()
        pack = open_records(file, tmp_path / "cache")
        assert [pack.read(number) for number in range(3)] == contents
        assert pack.names == ("7",)


def test_counts_beyond_2_to_24_do_not_matter(tmp_path: Path) -> None:
    """float32 rounds them: record 0 announces one image too few."""
    first = 2**24 + 1
    records = [(first + n, image_record(content, n, n)) for n, (_, content) in enumerate(IMAGES)]
    records += [(0, struct.pack("<IfQQ2f", 2, 0, 0, 0, first + len(IMAGES), first + len(IMAGES)))]
    records += [(first + len(IMAGES), struct.pack("<IfQQ2f", 2, 0, 0, 0, first, first + len(IMAGES)))]
    pack = open_records(write_records(tmp_path / "train.rec", records), tmp_path / "cache")
    assert len(pack) == len(IMAGES)
    assert pack.keys.tolist() == list(range(first, first + len(IMAGES)))


def test_the_index_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    file = write_rec(tmp_path / "train.rec", IMAGES)
    before = open_records(file, tmp_path / "cache")
    (kept,) = (tmp_path / "cache").glob("index-*")
    written = kept.stat().st_mtime_ns
    again = open_records(file, tmp_path / "cache")
    assert kept.stat().st_mtime_ns == written
    assert again.fingerprint() == before.fingerprint()
    assert pickle.loads(pickle.dumps(again)).read(3) == before.read(3)
    write_rec(file, IMAGES[:-1])
    assert len(open_records(file, tmp_path / "cache")) == len(IMAGES) - 1
    _handle.cache_clear()  # as in another process
    with pytest.raises(ValueError, match="has changed since it was opened"):
        again.read(0)


def damaged(file: Path, offset: int, content: bytes) -> None:
    whole = bytearray(file.read_bytes())
    whole[offset : offset + len(content)] = content
    file.write_bytes(whole)


def test_truncated(tmp_path: Path) -> None:
    file = write_rec(tmp_path / "train.rec", IMAGES, header=False)
    size = file.stat().st_size
    os.truncate(file, size - 100)
    last = int(file.with_suffix(".idx").read_text().split()[-1])
    message = rf"{file}, record at byte {last}: it goes on to byte \d+, but the file ends at byte {size - 100}"
    with pytest.raises(ValueError, match=message):
        open_records(file, tmp_path / "cache")
    file.with_suffix(".idx").unlink()
    with pytest.raises(ValueError, match="the file ends at byte"):
        open_records(file, tmp_path / "cache")
    os.truncate(file, last + 5)
    with pytest.raises(ValueError, match=f"8 bytes were expected at byte {last}, 5 are there"):
        open_records(file, tmp_path / "cache")
    file.write_bytes(b"")
    with pytest.raises(ValueError, match="none of its 0 records has an image"):
        open_records(file, tmp_path / "cache")


@pytest.mark.parametrize(
    ("place", "content", "message"),
    [
        (0, b"nope", "byte {at}: expected a record, which begins with 0a23d7ce"),
        (4, struct.pack("<I", 3 << 29 | 40), "byte {at}: expected a record"),
        (4, struct.pack("<I", 1 << 29 | 40), r"expected a record"),
        (4, struct.pack("<I", 0x1FFFFFFF), "record at byte {at}: it goes on to byte"),
        (4, struct.pack("<I", 12), "record at byte {at}: its header is wrong"),
        (8, struct.pack("<I", 0xFFFFFFFF), "its header is wrong: it announces 4294967295 labels"),
        (12, struct.pack("<f", -1), "expected a class number from 0 to 16777215, -1.0 came"),
        (12, struct.pack("<f", 0.5), "expected a class number from 0 to 16777215, 0.5 came"),
        (12, struct.pack("<f", float("nan")), "expected a class number from 0 to 16777215, nan came"),
        (12, struct.pack("<f", 2e9), "expected a class number from 0 to 16777215, 2000000000.0 came"),
    ],
)
def test_records_that_are_wrong(tmp_path: Path, place: int, content: bytes, message: str) -> None:
    file = write_rec(tmp_path / "train.rec", IMAGES, header=False)
    at = int(file.with_suffix(".idx").read_text().split("\n")[5].split("\t")[1])
    damaged(file, at + place, content)
    with pytest.raises(ValueError, match=message.format(at=at)) as caught:
        open_records(file, tmp_path / "cache")
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("0\t0\n1\t999999999\n", "key 1 points to byte 999999999, but .*train.rec has"),
        ("0\t0\n1\t-4\n", "key 1 points to byte -4"),
        ("0\t0\n1\n", "3 numbers came"),
        ("", "0 numbers came"),
        ("0\tzero\n", "expected lines 'key<TAB>offset'"),
        ("0\t0\n0\t0\n", "1 keys occur again"),
        ("0\t2\n", "byte 2: expected a record"),
    ],
)
def test_an_index_that_is_wrong(tmp_path: Path, index: str, message: str) -> None:
    file = write_rec(tmp_path / "train.rec", IMAGES, header=False)
    file.with_suffix(".idx").write_text(index)
    with pytest.raises(ValueError, match=message):
        open_records(file, tmp_path / "cache")


@pytest.mark.skipif(not REAL.is_file(), reason="MARGINBENCH_DATA has no faces_lfw_112x112")
def test_a_pack_that_mxnet_wrote(tmp_path: Path) -> None:
    pack = open_records(REAL, tmp_path)
    assert (len(pack), len(pack.names)) == (4922, 478)
    assert (np.bincount(pack.labels) > 0).all()
    assert pack.keys.tolist() == list(range(1, 4923))
    assert all(pack.read(number).startswith(b"\xff\xd8\xff") for number in range(0, 4922, 100))


def test_threads_share_a_file(tmp_path: Path) -> None:
    pack = open_records(write_rec(tmp_path / "train.rec", IMAGES, header=False), tmp_path / "cache")
    expected = [content for _, content in IMAGES]
    for _ in range(300):  # each time all threads open the file at once
        _handle.cache_clear()
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(pack.read, range(len(pack)))) == expected
