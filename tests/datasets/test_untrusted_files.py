"""IDX files, CIFAR records and archives that are not what they should be."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import datasets
from datasets._archive import read_archive
from datasets._mnist_family import MOST_BYTES, parse_idx, read_idx
from datasets.omniglot import mean_of_areas


def idx(*shape: int, content: bytes = b"", kind: int = 8) -> bytes:
    return struct.pack(f">HBB{len(shape)}I", 0, kind, len(shape), *shape) + content


@given(st.binary(min_size=6, max_size=6))
def test_idx_is_read(content: bytes) -> None:
    assert parse_idx(io.BytesIO(idx(1, 2, 3, content=content)), 3).tobytes() == content


@given(st.binary(max_size=64))
def test_idx_reader_never_fails_but_with_a_value_error(content: bytes) -> None:
    with suppress(ValueError):
        assert parse_idx(io.BytesIO(content), 1).size > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected an IDX header of 8 bytes, got 0"),
        (idx(6, content=b"123456", kind=9), "header for bytes"),
        (idx(2, 3, content=b"123456"), "header for bytes"),
        (idx(6, content=b"12345"), "announces 6 bytes, got 5"),
        (idx(6, content=b"1234567"), "announces 6 bytes, got more than 6"),
        (idx(0), "0 bytes"),
        (idx(MOST_BYTES + 1), "bytes; expected 1 to"),
    ],
)
def test_idx_that_is_wrong(tmp_path: Path, content: bytes, message: str) -> None:
    for name, packed in (("x", content), ("x.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(packed)
        with pytest.raises(ValueError, match=message) as caught:
            read_idx(tmp_path / name, 1)
        assert name in str(caught.value)


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(idx(6, content=b"123456"), mtime=0)[:-9]])
def test_gzip_that_is_wrong(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(ValueError, match="not a complete gzip file"):
        read_idx(tmp_path / "x.gz", 1)


def write_mnist(root: Path, images: bytes, labels: bytes, suffix: str = "") -> None:
    folder = root / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part in ("train", "t10k"):
        (folder / f"{part}-images-idx3-ubyte{suffix}").write_bytes(images)
        (folder / f"{part}-labels-idx1-ubyte{suffix}").write_bytes(labels)


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        (idx(2, 28, 28, content=bytes(1568)), idx(3, content=bytes(3)), "2 images.*3 labels"),
        (idx(2, 28, 27, content=bytes(1512)), idx(2, content=bytes(2)), "28×28"),
        (idx(2, 28, 28, content=bytes(1568)), idx(2, content=b"\x00\x0a"), "labels from 0 to 9, got 0 to 10"),
    ],
)
def test_files_that_do_not_fit_together(tmp_path: Path, images: bytes, labels: bytes, message: str) -> None:
    write_mnist(tmp_path, images, labels)
    with pytest.raises(ValueError, match=message):
        datasets.load("mnist", tmp_path)


def test_official_checksums_are_verified(tmp_path: Path) -> None:
    write_mnist(
        tmp_path,
        gzip.compress(idx(2, 28, 28, content=bytes(1568))),
        gzip.compress(idx(2, content=bytes(2))),
        suffix=".gz",
    )
    with pytest.raises(ValueError, match="official MD5 checksum f68b3c2dcbeaaa9fbdd348bbdeb94873"):
        datasets.load("mnist", tmp_path)


@pytest.mark.parametrize("name", ["mnist", "kmnist", "fashion_mnist", "emnist", "cifar10", "cifar100", "omniglot"])
def test_missing_data_says_where_and_how(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.fashion_mnist.DEBIAN", tmp_path / "no system package")
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load(name, tmp_path / "nothing")
    message = str(caught.value)
    assert str(tmp_path / "nothing") in message
    assert "download=True" in message
    assert "http" in message
    assert "MARGINBENCH_DATA" in message


@pytest.mark.skipif(
    not Path("/usr/share/datasets/fashion-mnist").is_dir(), reason="Debian's dataset-fashion-mnist is not installed"
)
def test_real_fashion_mnist_from_debian(tmp_path: Path) -> None:
    data = datasets.load("fashion_mnist", tmp_path)
    assert (len(data.train) + len(data.val), len(data.test)) == (60_000, 10_000)
    assert data.num_classes == 10
    assert data.image_shape == (1, 28, 28)
    assert data.test.class_counts.tolist() == [1_000] * 10
    assert 0.28 < data.train.images.float().mean().item() / 255 < 0.29


def test_fashion_mnist_from_a_system_package(
    made_up_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.fashion_mnist.DEBIAN", tmp_path / "share")
    with pytest.raises(FileNotFoundError, match="share"):
        datasets.load("fashion_mnist", tmp_path)
    (tmp_path / "share" / "fashion-mnist").mkdir(parents=True)
    for file in (made_up_root / "FashionMNIST" / "raw").iterdir():
        packed = tmp_path / "share" / "fashion-mnist" / f"{file.name}.gz"
        packed.write_bytes(gzip.compress(file.read_bytes(), 1))
    packaged, own = (datasets.load("fashion_mnist", root) for root in (tmp_path, made_up_root))
    assert packaged.digest == own.digest


def test_emnist_is_turned_upright(made_up_root: Path) -> None:
    raw = read_idx(made_up_root / "EMNIST" / "raw" / "emnist-letters-test-images-idx3-ubyte", 3)
    data = datasets.load("emnist", made_up_root, part="letters")
    assert np.array_equal(data.test.images[0, 0].numpy(), raw[0].T)
    assert data.test.names[:3] == ("A", "B", "C")


def test_cifar_pickles_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "cifar-10-batches-py").mkdir()
    with pytest.raises(FileNotFoundError, match=r"pickle files can run any code .* does not read them"):
        datasets.load("cifar10", tmp_path)


def test_cifar_records_are_checked(tmp_path: Path) -> None:
    folder = tmp_path / "cifar-100-binary"
    folder.mkdir()
    (folder / "fine_label_names.txt").write_text("\n".join(map(str, range(100))))
    (folder / "test.bin").write_bytes(bytes(3074))
    (folder / "train.bin").write_bytes(bytes(3073))
    with pytest.raises(ValueError, match=r"train.bin has 3073 bytes"):
        datasets.load("cifar100", tmp_path)
    (folder / "train.bin").write_bytes(bytes([0, 100]) + bytes(3072))
    with pytest.raises(ValueError, match="labels from 0 to 99, got 100"):
        datasets.load("cifar100", tmp_path)


def test_cifar_archive_checksum(tmp_path: Path) -> None:
    (tmp_path / "cifar-10-binary.tar.gz").write_bytes(b"something else")
    with pytest.raises(ValueError, match="official MD5 checksum c32a1d4ab5d03f1284b67883e8d87530"):
        datasets.load("cifar10", tmp_path)


def write_tar(path: Path, *members: tarfile.TarInfo, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as archive:
        for member in members:
            member.size = len(content) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(content))
    return path


def link(name: str, kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = kind
    member.linkname = "/etc/passwd"
    return member


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (tarfile.TarInfo("../escape.png"), "points out of the archive"),
        (tarfile.TarInfo("a/../../escape.png"), "points out of the archive"),
        (tarfile.TarInfo("/absolute.png"), "points out of the archive"),
        (link("a/link.png", tarfile.SYMTYPE), "neither a file nor a folder"),
        (link("a/link.png", tarfile.LNKTYPE), "neither a file nor a folder"),
        (link("a/device", tarfile.CHRTYPE), "neither a file nor a folder"),
    ],
)
def test_archive_members_that_are_refused(tmp_path: Path, member: tarfile.TarInfo, message: str) -> None:
    write_tar(tmp_path / "omniglot" / "omniglot.tar.xz", member)
    with pytest.raises(ValueError, match=message):
        datasets.load("omniglot", tmp_path)
    assert not list(tmp_path.glob("**/escape.png"))


def test_archive_limits(tmp_path: Path) -> None:
    members = [tarfile.TarInfo(f"file{number}") for number in range(5)]
    path = write_tar(tmp_path / "x.tar.xz", *members, content=b"12345")
    assert len(list(read_archive(path, most_members=5, most_bytes=5))) == 5
    with pytest.raises(ValueError, match="more than 4 members"):
        list(read_archive(path, most_members=4, most_bytes=5))
    with pytest.raises(ValueError, match="has 5 bytes; expected at most 4"):
        list(read_archive(path, most_members=5, most_bytes=4))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="not a complete tar archive"):
        list(read_archive(path, most_members=5, most_bytes=5))


@pytest.mark.parametrize(("size", "message"), [((105, 104), "105×105"), (None, "cannot be read as an image")])
def test_omniglot_images_are_checked(tmp_path: Path, size: tuple[int, int] | None, message: str) -> None:
    buffer = io.BytesIO(b"no image")
    if size is not None:
        Image.new("1", size).save(buffer, "PNG")
    name = "images_background/Alphabet/character01/0001_01.png"
    write_tar(tmp_path / "omniglot/omniglot.tar.xz", tarfile.TarInfo(name), content=buffer.getvalue())
    with pytest.raises(ValueError, match=message):
        datasets.load("omniglot", tmp_path)


def test_archive_and_folder_give_the_same_data(made_up_root: Path, tmp_path: Path) -> None:
    (tmp_path / "omniglot").mkdir()
    with tarfile.open(tmp_path / "omniglot" / "omniglot.tar.xz", "w:xz", preset=0) as archive:
        for part in ("images_evaluation", "images_background"):
            archive.add(made_up_root / "omniglot-py" / part, arcname=part)
    from_folder = datasets.load("omniglot", made_up_root, cache=tmp_path / "one")
    from_archive = datasets.load("omniglot", tmp_path, cache=tmp_path / "other")
    assert from_folder.digest == from_archive.digest


def test_omniglot_is_reduced_by_area() -> None:
    image = np.random.default_rng(0).integers(0, 256, (105, 105), dtype=np.uint8)
    by_fifteens = image.reshape(7, 15, 7, 15).mean(axis=(1, 3))
    assert np.abs(mean_of_areas(image, 7) - by_fifteens).max() <= 0.5
    fine = np.repeat(np.repeat(image, 4, axis=0), 4, axis=1).reshape(28, 15, 28, 15).mean(axis=(1, 3))
    assert np.abs(mean_of_areas(image, 28) - fine).max() <= 0.5
    assert np.array_equal(mean_of_areas(image, 105), image)
