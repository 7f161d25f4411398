"""Zips, tar shards and parquet: read without unpacking, and refused where they are not what they should be."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from datasets._errors import InputError
from datasets._parquet import read_pair_parquet
from datasets._recognise import open_source, recognise
from datasets._shards import open_shards
from datasets._source import Source
from datasets._trees import scan_tree
from datasets._zips import open_zip
from tests.datasets.packs import jpeg, some_images, write_parquet, write_rec, write_shards, write_tree, write_zip

IMAGES = some_images(3, 4)
CONTENT = [content for _, content in IMAGES]


def contents(source: Source) -> list[bytes]:
    return [source.read(number) for number in range(len(source))]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def nothing_outside(tmp_path: Path) -> None:
    assert not [file for file in tmp_path.rglob("*") if "escape" in file.name]


# Zip


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("top", ["", "lfw/", "a/b/"])
def test_a_zip_is_the_tree_inside(tmp_path: Path, cache: Path, method: int, top: str) -> None:
    file = write_zip(tmp_path / "x.zip", IMAGES, top, method)
    for _ in range(2):  # the second time from the kept index
        zipped, tree = open_zip(file, cache), scan_tree(write_tree(tmp_path / "tree", IMAGES))
        assert contents(zipped) == contents(tree) == CONTENT
        assert (zipped.paths, zipped.names) == (tree.paths, tree.names)
        assert np.array_equal(zipped.labels, tree.labels)
        assert "p000/p000_0001.jpg" in zipped.where(0)


def test_what_else_is_in_a_zip_is_passed_over(tmp_path: Path, cache: Path) -> None:
    others = [("README.txt", b"text"), ("__MACOSX/p000/._x.jpg", b"x"), ("p000/.hidden.jpg", b"x"), ("top.jpg", b"x")]
    assert contents(open_zip(write_zip(tmp_path / "x.zip", [*IMAGES, *others]), cache)) == CONTENT


@pytest.mark.parametrize(
    ("name", "attributes", "message"),
    [
        ("../escape.jpg", 0, "points out of the archive"),
        ("p000/../../escape.jpg", 0, "points out of the archive"),
        ("/escape.jpg", 0, "points out of the archive"),
        ("..\\escape.jpg", 0, "points out of the archive"),
        ("p000/link.jpg", 0o120777 << 16, "neither a file nor a folder"),
        ("p000/device.jpg", 0o020666 << 16, "neither a file nor a folder"),
    ],
)
def test_zip_members_that_are_refused(tmp_path: Path, cache: Path, name: str, attributes: int, message: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        member = zipfile.ZipInfo("placeholder.jpg")
        member.filename, member.external_attr = name, attributes
        archive.writestr(member, CONTENT[0])
    with pytest.raises(InputError, match=message):
        open_zip(tmp_path / "x.zip", cache)
    nothing_outside(tmp_path)


def test_zip_bombs(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets._zips.MOST_BYTES", 1 << 20)
    bomb = [(f"p/{n}.jpg", bytes(1 << 20)) for n in range(4)]
    file = write_zip(tmp_path / "bomb.zip", bomb, method=zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="more than 50 times its size; it is not read"):
        open_zip(file, cache)
    file = write_zip(tmp_path / "large.zip", [("p/1.jpg", bytes((1 << 20) + 1))])
    with pytest.raises(InputError, match="has 1048577 bytes, at most 1048576 are read"):
        open_zip(file, cache)


def test_a_zip_that_lies_about_sizes(tmp_path: Path, cache: Path) -> None:
    """The member inflates to a megabyte, its size says 100 bytes."""
    file = write_zip(tmp_path / "x.zip", [("p/1.jpg", bytes(1 << 20))], method=zipfile.ZIP_DEFLATED)
    file.write_bytes(file.read_bytes().replace(struct.pack("<I", 1 << 20), struct.pack("<I", 100)))
    with pytest.raises(InputError, match="size or checksum is not the one that the zip states"):
        open_zip(file, cache).read(0)


def test_damaged_zips(tmp_path: Path, cache: Path) -> None:
    file = write_zip(tmp_path / "x.zip", IMAGES)
    whole = file.read_bytes()
    file.write_bytes(whole.replace(CONTENT[0][100:120], bytes(20)))
    with pytest.raises(InputError, match="size or checksum"):
        open_zip(file, cache).read(0)
    file.write_bytes(whole[:-50])
    with pytest.raises(InputError, match="is not a whole zip"):
        open_zip(file, cache)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("README.txt", "text")
    with pytest.raises(InputError, match="holds no class/image"):
        open_zip(file, cache)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(*IMAGES[0])
    with pytest.raises(InputError, match="compressed in an unusual way"):
        open_zip(file, cache)


# Tar shards


@pytest.mark.parametrize("packed", ["", "gz"])
def test_shards(tmp_path: Path, cache: Path, packed: str) -> None:
    folder = write_shards(tmp_path / "shards", IMAGES, 3, packed)
    for source in (open_source([folder], cache), open_source(sorted(folder.iterdir()), cache)):
        assert contents(source) == CONTENT
        assert source.names == ("0", "1", "2")
        assert source.labels.tolist() == np.repeat(np.arange(3), 4).tolist()
    assert ".tar, byte" in source.where(0)
    assert {file.suffix for file in folder.iterdir()} == {".gz" if packed else ".tar"}


def write_tar(file: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(file, "w:", format=tarfile.GNU_FORMAT) as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def member(name: str, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd" if kind != tarfile.REGTYPE else ""
    return info


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ((member("../escape.jpg"), b"x"), "byte 1024: member '../escape.jpg' points out of the archive"),
        ((member("/escape.jpg"), b"x"), "points out of the archive"),
        ((member("a/../../escape.jpg"), b"x"), "points out of the archive"),
        ((member("2.jpg", tarfile.SYMTYPE), b""), "neither a file nor a folder"),
        ((member("2.jpg", tarfile.LNKTYPE), b""), "neither a file nor a folder"),
        ((member("2.jpg", tarfile.CHRTYPE), b""), "neither a file nor a folder"),
        ((member("2.jpg", tarfile.FIFOTYPE), b""), "neither a file nor a folder"),
        ((member("2.jpg", tarfile.GNUTYPE_SPARSE), b"x"), "neither a file nor a folder"),
        ((member("2.cls"), b"one"), "byte 1024: '2.cls' is not a class number: b'one'"),
        ((member("2.cls"), b"-1"), "is not a class number"),
        ((member("2.cls"), b"1" * 40), "is not a class number"),
        ((member("2.jpg"), b"image"), r"the image '2\.jpg' has no label 2\.cls beside it"),
    ],
)
def test_tar_members_that_are_refused(
    tmp_path: Path, cache: Path, bad: tuple[tarfile.TarInfo, bytes], message: str
) -> None:
    file = write_tar(tmp_path / "x.tar", (member("1.cls"), b"0"), bad)
    with pytest.raises(InputError, match=message) as caught:
        open_shards([file], cache)
    assert str(file) in str(caught.value)
    nothing_outside(tmp_path)


@pytest.mark.parametrize("kind", [b"L", b"x"])
def test_a_tar_that_announces_a_huge_name(tmp_path: Path, cache: Path, kind: bytes) -> None:
    header = bytearray(member("long").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"77777777777\0"  # 8 GB
    header[156:157] = kind
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "x.tar").write_bytes(bytes(header) + bytes(4096))
    with pytest.raises(InputError, match=r"x\.tar, byte 512: a header announces 8589934\d+ bytes"):
        open_shards([tmp_path / "x.tar"], cache)


def test_damaged_tars(tmp_path: Path, cache: Path) -> None:
    file = write_shards(tmp_path / "shards", IMAGES, 1) / "shard-0000.tar"
    whole = file.read_bytes()
    file.write_bytes(whole[:4000])
    with pytest.raises(InputError, match=r"is not a whole tar|expected a tar header or the end mark"):
        open_shards([file], cache)
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        third = archive.getmembers()[2].offset
    file.write_bytes(whole[:third] + b"garbage".ljust(512, b"!") + whole[third + 512 :])
    with pytest.raises(InputError, match=rf"byte {third}: expected a tar header or the end mark"):
        open_shards([file], cache)
    file.write_bytes(whole.rstrip(b"\0").ljust(-(-len(whole.rstrip(b"\0")) // 512) * 512, b"\0"))
    with pytest.raises(InputError, match="expected a tar header or the end mark"):
        open_shards([file], cache)
    write_tar(file, (member("README.txt"), b"text"))
    with pytest.raises(InputError, match=r"no member is an image with a label"):
        open_shards([file], cache)


def test_damaged_tar_gz(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_shards(tmp_path / "shards", IMAGES, 1, "gz") / "shard-0000.tar.gz"
    whole = file.read_bytes()
    file.write_bytes(whole[:-100])
    with pytest.raises(InputError, match=r"is not a whole \.tar\.gz"):
        open_shards([file], cache)
    monkeypatch.setattr("datasets._shards.MOST_BYTES", 1 << 16)
    file.write_bytes(gzip.compress(bytes(1 << 22)))
    with pytest.raises(InputError, match="20 times its size"):
        open_shards([file], cache)
    assert not list(cache.glob("*"))


# Parquet


@pytest.mark.parametrize("struct_images", [True, False])
def test_parquet_pairs(tmp_path: Path, struct_images: bool) -> None:
    file = write_parquet(tmp_path / "x.parquet", CONTENT, [True, False] * 3, struct_images)
    assert read_pair_parquet(file) == (CONTENT, [True, False] * 3)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"image": [b"1"], "label": [1]},
            "expected the columns image1, image2, target; image1, image2, target missing",
        ),
        (
            {"image1": ["1"], "image2": [b"1"], "target": [1]},
            "expected encoded images in column image1, its type is str",
        ),
        ({"image1": [{"path": "x"}], "image2": [b"1"], "target": [1]}, "expected encoded images in column image1"),
        ({"image1": [None, b"1"], "image2": [b"1", b"1"], "target": [1, 1]}, "row 0, image1: there is no image"),
        ({"image1": [b"1"], "image2": [b"1"], "target": [2]}, "row 0: expected a target of 0 or 1, 2 came"),
        ({"image1": [b"1"], "image2": [b"1"], "target": ["a"]}, "row 0: expected a target of 0 or 1, a came"),
    ],
)
def test_parquet_that_is_wrong(tmp_path: Path, columns: dict[str, list[object]], message: str) -> None:
    parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=message) as caught:
        read_pair_parquet(tmp_path / "x.parquet")
    assert "x.parquet" in str(caught.value)


def test_a_parquet_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets._parquet.MOST_BYTES", 1 << 20)
    table = pyarrow.table({"image1": [bytes(1 << 20)] * 4, "image2": [bytes(1 << 20)] * 4, "target": [1] * 4})
    parquet.write_table(table, tmp_path / "x.parquet", compression="zstd", use_dictionary=False)
    assert (tmp_path / "x.parquet").stat().st_size < 1 << 16
    with pytest.raises(InputError, match="more than 50 times its size; it is not read"):
        read_pair_parquet(tmp_path / "x.parquet")


def test_damaged_parquet(tmp_path: Path) -> None:
    file = write_parquet(tmp_path / "x.parquet", CONTENT, [True, False] * 3)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(InputError, match="is not a whole parquet file"):
        read_pair_parquet(file)


# Which reader


def test_readers_are_chosen_by_content(tmp_path: Path, cache: Path) -> None:
    """Names say nothing here."""
    (tmp_path / "a").mkdir()
    write_zip(tmp_path / "a" / "x.rec", IMAGES)
    write_rec(tmp_path / "b.rec", IMAGES).rename(tmp_path / "b.zip")
    write_shards(tmp_path / "c", IMAGES, 1)
    (tmp_path / "c" / "shard-0000.tar").rename(tmp_path / "c.bin")
    write_rec(tmp_path / "d" / "train.rec", IMAGES)
    write_tree(tmp_path / "e", IMAGES)
    (tmp_path / "b.idx").rename(tmp_path / "b.text")
    for path in ("a/x.rec", "b.zip", "c.bin", "d", "d/train.idx", "e"):
        assert contents(open_source([tmp_path / path], cache)) == CONTENT, path


def test_what_is_not_recognised(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "train.rec").write_bytes(b"nothing known")
    with pytest.raises(InputError, match=r"train\.rec: it begins with 6e6f7468696e6720; expected RecordIO"):
        open_source([tmp_path / "train.rec"], cache)
    (tmp_path / "train.rec").write_bytes(b"")
    with pytest.raises(InputError, match="it begins with nothing"):
        open_source([tmp_path / "train.rec"], cache)
    (tmp_path / "pairs.txt").write_text("10\t300\n")
    assert recognise(tmp_path / "pairs.txt") == "pairs file"
    with pytest.raises(InputError, match="is a list of pairs, not of images"):
        open_source([tmp_path / "pairs.txt"], cache)
    (tmp_path / "several").mkdir()
    for name in ("a.rec", "b.rec"):
        write_rec(tmp_path / "several" / name, IMAGES)
    with pytest.raises(InputError, match=r"holds 2 \.rec files; name one"):
        open_source([tmp_path / "several"], cache)
    with pytest.raises(InputError, match="only tar shards can be several files"):
        open_source(sorted((tmp_path / "several").glob("*.rec")), cache)


def test_a_huge_file_in_a_tree_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = write_tree(tmp_path / "tree", IMAGES)
    os.truncate(tree / "p000" / "p000_0001.jpg", 5000)
    monkeypatch.setattr("datasets._trees.MOST_BYTES", 4000)
    source = scan_tree(tree)
    with pytest.raises(InputError, match="it has 5000 bytes; expected at most 4000"):
        source.read(0)
    assert source.read(1) == CONTENT[1] == jpeg(2)
