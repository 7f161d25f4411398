"""A person's own folder: damaged images, pairs files, links, and images that stay on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import datasets
from datasets import Data

PEOPLE, EACH = 14, 6


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    for person in range(PEOPLE):
        folder = tmp_path / "people" / f"p{person:02d}"
        folder.mkdir(parents=True)
        for number in range(1, EACH + 1):
            pixels = rng.integers(0, 256, (10, 10, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / f"p{person:02d}_{number:04d}.png")
    return tmp_path / "people"


def load(root: Path, **options: object) -> Data:
    return datasets.load("folder", root, **{"size": 10, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", ["open", "closed"])
def test_streaming_equals_memory(people: Path, protocol: str) -> None:
    whole, streamed = load(people, protocol=protocol), load(people, protocol=protocol, memory_mb=0)
    assert isinstance(whole.train.images, torch.Tensor)
    assert not isinstance(streamed.train.images, torch.Tensor)
    for one, other in ((whole.train, streamed.train), (whole.val, streamed.val), (whole.test, streamed.test)):
        assert other.images.shape == one.images.shape
        index = torch.randperm(len(one))[: len(one) // 2]
        assert torch.equal(other.images[index], one.images[index])
        assert torch.equal(other.labels, one.labels)
    assert streamed.digest == whole.digest
    assert streamed.options == whole.options


def test_streamed_images_can_be_wrapped(people: Path) -> None:
    chain = [{"subset": {"classes": 3}}, {"longtail": {"ratio": 2}}, {"label_noise": {"share": 0.2}}]
    assert load(people, wrappers=chain, memory_mb=0).digest == load(people, wrappers=chain).digest


def test_pixels_come_through(people: Path) -> None:
    data = load(people)
    label = int(data.test.labels[0])
    first = sorted((people / data.test.names[label]).iterdir())[0]
    expected = np.asarray(Image.open(first)).transpose(2, 0, 1)
    assert np.array_equal(data.test.images[0].numpy(), expected)
    assert load(people, channels=1, size=8).image_shape == (1, 8, 8)


def test_a_changed_image_is_noticed(people: Path) -> None:
    before = load(people).digest
    Image.new("RGB", (10, 10), "red").save(people / "p00" / "p00_0001.png")
    assert load(people).digest != before


def test_damaged_kept_pixels_are_decoded_again(people: Path) -> None:
    before = load(people).digest
    (kept,) = (people / ".cache").glob("*.pixels")
    content = bytearray(kept.read_bytes())
    content[-5] ^= 1
    kept.write_bytes(content)
    assert load(people).digest == before
    kept.write_bytes(content[:-100])
    assert load(people, memory_mb=0).digest == before


def test_damage_is_noticed_when_streaming(people: Path) -> None:
    before = load(people, memory_mb=0).digest
    (kept,) = (people / ".cache").glob("*.pixels")
    content = bytearray(kept.read_bytes())
    content[:] = bytes(len(content))
    kept.write_bytes(content)
    data = load(people, memory_mb=0)
    with pytest.raises(ValueError, match=r"image \d+ \(byte \d+\) is not the one that was written there"):
        data.train.images[torch.tensor([0])]
    again = load(people, memory_mb=0)
    assert again.digest == before
    assert again.train.images[torch.tensor([0])].any()


def test_few_damaged_images_are_named_and_left_out(people: Path) -> None:
    (people / "p03" / "p03_0002.png").write_bytes(b"no image")
    cut = people / "p05" / "p05_0001.png"
    cut.write_bytes(cut.read_bytes()[:100])
    for _ in range(2):  # the second time from what was kept
        with pytest.warns(UserWarning, match="2 of 84 images could not be read") as caught:
            data = load(people)
        message = str(caught[0].message)
        assert "p03/p03_0002.png" in message
        assert "p05/p05_0001.png" in message
        assert len(data.train) + len(data.val) + len(data.test) == 82
        assert any("2 of 84" in note for note in data.notes)


def test_many_damaged_images_are_an_error(people: Path) -> None:
    for number in range(1, 6):
        (people / "p03" / f"p03_000{number}.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"5 of 84 images .*p03_0001.*max_corrupt=0\.05"):
        load(people)
    with pytest.warns(UserWarning, match="5 of 84"):
        load(people, max_corrupt=0.1)


def test_huge_images_are_not_decoded(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets._jpeg.MOST_PIXELS", 10_000)
    Image.new("1", (101, 100)).save(people / "p00" / "huge.png")
    with pytest.warns(UserWarning, match=r"huge\.png \(101×100 pixels; expected at most 10000"):
        load(people)


def test_links_out_of_the_tree_are_refused(people: Path, tmp_path: Path) -> None:
    Image.new("RGB", (10, 10)).save(tmp_path / "outside.png")
    (people / "p00" / "link.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(ValueError, match=r"link\.png is a link to a file outside of"):
        load(people)


def test_linked_folder_out_of_the_tree_is_refused(people: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    Image.new("RGB", (10, 10)).save(tmp_path / "other" / "x.png")
    (people / "q").symlink_to(tmp_path / "other")
    with pytest.raises(ValueError, match="is a link to a file outside of"):
        load(people)


def write_pairs(people: Path, *rows: str, name: str = "pairs.csv") -> None:
    (people / name).write_text("\n".join(rows) + "\n")


def test_pairs_csv(people: Path) -> None:
    rows = ["path,path,same"]
    rows += [f"p{n:02d}/p{n:02d}_0001.png,p{n:02d}/p{n:02d}_0002.png,1" for n in range(4)]
    rows += [f"p{n:02d}/p{n:02d}_0001.png,p{n + 1:02d}/p{n + 1:02d}_0003.png,0" for n in range(3)]
    rows += ["p00/p00_0002.png,p00/p00_0001.png,1"]  # the first pair again
    write_pairs(people, *rows)
    data = load(people)
    assert data.test.names == ("p00", "p01", "p02", "p03")
    assert len(data.test.pairs) == 7
    assert data.test.same.tolist() == [True] * 4 + [False] * 3
    assert torch.equal(
        data.test.labels[data.test.pairs[:, 0]] == data.test.labels[data.test.pairs[:, 1]], data.test.same
    )
    first = np.asarray(Image.open(people / "p00" / "p00_0001.png")).transpose(2, 0, 1)
    assert np.array_equal(data.test.images[int(data.test.pairs[0, 0])].numpy(), first)
    assert data.num_classes + len(data.val.names) == PEOPLE - 4


def test_pairs_csv_in_a_closed_set(people: Path) -> None:
    write_pairs(people, "p00/p00_0001.png,p00/p00_0002.png,same,3", "p00/p00_0001.png,p01/p01_0002.png,no,4")
    data = load(people, protocol="closed")
    assert len(data.test) == 3
    assert data.test.fold.tolist() == [3, 4]
    assert data.num_classes == PEOPLE
    smaller = load(people, protocol="closed", wrappers=[{"subset": {"per_class": 2}}])
    assert torch.equal(smaller.test.pairs, data.test.pairs)


def test_lfw_pairs(people: Path) -> None:
    rows = ["2\t2"]
    for first in (0, 2):
        rows += [f"p{first + n:02d}\t1\t2" for n in range(2)]
        rows += [f"p{first:02d}\t{n}\tp{first + 1:02d}\t{n}" for n in (1, 2)]
    write_pairs(people, *rows, name="pairs.txt")
    data = load(people)
    assert data.test.same.tolist() == [True, True, False, False] * 2
    assert data.test.fold.tolist() == [0] * 4 + [1] * 4
    assert load(people, pairs="pairs.txt").digest == data.digest


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("../x.png,p00/p00_0001.png,0", r"line 1: the path '\.\./x\.png' is outside of the folder"),
        ("p00/../../x.png,p00/p00_0001.png,0", "is outside of the folder"),
        ("/etc/passwd,p00/p00_0001.png,0", "is outside of the folder"),
        (r"C:\x.png,p00/p00_0001.png,0", "is outside of the folder"),
        (r"..\x.png,p00/p00_0001.png,0", "is outside of the folder"),
        ("p00/none.png,p00/p00_0001.png,1", r"none of its 1 pairs has both images; .* is 'p00/none\.png'"),
        ("p00/p00_0001.png,p00/p00_0001.png,1", "paired with itself"),
        ("p00/p00_0001.png,p00/p00_0002.png,0", "same is False, but the images are of 'p00' and 'p00'"),
        ("p00/p00_0001.png,p00/p00_0002.png", "expected path,path,same"),
        ("p00/p00_0001.png,p00/p00_0002.png,1,11", "expected a fold from 0 to 9, or from 1 to 10, got '11'"),
    ],
)
def test_pairs_that_are_wrong(people: Path, row: str, message: str) -> None:
    write_pairs(people, row)
    with pytest.raises(ValueError, match=message):
        load(people)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("p00 1", "expected 'name n m'"),
        ("../x 1 2", "is outside of the folder"),
        ("p00 1 99", "missing image is 'p00/p00_0099'"),
    ],
)
def test_lfw_pairs_that_are_wrong(people: Path, row: str, message: str) -> None:
    write_pairs(people, "1", row, name="pairs.txt")
    with pytest.raises(ValueError, match=message):
        load(people)


def test_pairs_of_images_that_were_left_out_are_dropped(people: Path) -> None:
    (people / "p00" / "p00_0001.png").write_bytes(b"no image")
    rows = [f"p00/p00_000{n}.png,p00/p00_0005.png,1" for n in range(1, 4)]
    write_pairs(people, *rows, "p00/p00_0002.png,p01/p01_0001.png,0")
    with pytest.warns(UserWarning, match="1 of 84"):
        data = load(people)
    assert len(data.test.pairs) == 3
    assert "pairs.csv: 1 of 4 pairs name an image that was left out" in data.notes


def listed_folds(folds: int, each: int) -> list[str]:
    """Rows as LFW has them: in each fold pairs of one person, then of two."""
    rows = []
    for fold in range(folds):
        rows += [f"p{fold:02d}\t{n}\t{n + 1}" for n in range(1, each + 1)]
        rows += [f"p{fold:02d}\t{n}\tp{fold + 5:02d}\t{n}" for n in range(1, each + 1)]
    return rows


def test_missing_images_leave_the_other_pairs_and_their_folds(people: Path) -> None:
    write_pairs(people, "4\t2", *listed_folds(4, 2), name="pairs.txt")
    whole = load(people, size=8)
    assert whole.test.fold.bincount().tolist() == [4, 4, 4, 4]
    (people / "p01" / "p01_0001.png").unlink()
    data = load(people, size=8)
    assert data.test.fold.bincount().tolist() == [4, 2, 4, 4]
    assert "pairs.txt: 2 of 16 pairs left out; missing images: 1" in data.notes


def test_deleted_lines_do_not_change_the_folds(people: Path) -> None:
    rows = listed_folds(4, 2)
    write_pairs(people, "4\t2", *rows[:4], *rows[5:], name="pairs.txt")
    assert load(people).test.fold.bincount().tolist() == [4, 3, 4, 4]
    write_pairs(people, "4\t2", *rows[:2], *rows[4:6], *rows[8:], name="pairs.txt")
    with pytest.raises(ValueError, match=r"announces 4 folds of 2 \+ 2 pairs, but 12 pairs came, in 2 folds"):
        load(people)


@pytest.mark.parametrize("first", [0, 1])
def test_folds_count_from_zero_or_one(people: Path, first: int) -> None:
    rows = [f"p{n:02d}/p{n:02d}_0001.png,p{n:02d}/p{n:02d}_0002.png,1,{n + first}" for n in range(10)]
    rows += [
        f"p{n:02d}/p{n:02d}_0001.png,p{(n + 1) % 10:02d}/p{(n + 1) % 10:02d}_0002.png,0,{n + first}" for n in range(10)
    ]
    write_pairs(people, *rows)
    assert load(people).test.fold.tolist() == [*range(10), *range(10)]
    write_pairs(people, *rows, f"p00/p00_0003.png,p00/p00_0004.png,1,{10 - 10 * first}")
    with pytest.raises(ValueError, match="folds 0 and 10 both occur"):
        load(people)


def test_shares_are_of_the_people_who_could_train(people: Path) -> None:
    write_pairs(people, *(f"p{n:02d}/p{n:02d}_0001.png,p{n:02d}/p{n:02d}_0002.png,1" for n in range(4)),
                "p00/p00_0001.png,p01/p01_0001.png,0")  # fmt: skip
    for number in range(2, EACH + 1):
        (people / "p13" / f"p13_{number:04d}.png").unlink()
    for number in range(3, EACH + 1):
        (people / "p00" / f"p00_{number:04d}.png").unlink()
    data = load(people, val_share=0.4, min_per_class=3)
    assert data.test.names == ("p00", "p01", "p02", "p03")
    assert len(data.val.names) == 4  # of nine; p13 is too small, p00 may be small because it tests
    assert data.num_classes == 5
    assert "folder: 1 classes with fewer than 3 images left out" in data.notes
    for number in range(2, EACH + 1):
        for person in range(6, 13):
            (people / f"p{person:02d}" / f"p{person:02d}_{number:04d}.png").unlink()
    assert "folder: 4 classes were to validate, only 2 have 2 images" in load(people, val_share=0.4).notes


def test_too_little_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"CLASS/IMAGE\.png"):
        load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="has no file class/image"):
        load(tmp_path)
    for name, count in (("a", 3), ("b", 2), ("c", 1)):
        (tmp_path / name).mkdir()
        for number in range(count):
            Image.new("L", (8, 8), 10 * number).save(tmp_path / name / f"{number}.png")
    with pytest.raises(ValueError, match=r"3 classes, 2 with 2 images or more, 1 would train, 0 validate and 2 test"):
        load(tmp_path)
    with pytest.raises(ValueError, match=r"needs 3 images per class .* 2 of 3 classes have fewer: b, c"):
        load(tmp_path, protocol="closed")
    with pytest.raises(ValueError, match="1 training class"):
        load(tmp_path, protocol="closed", min_per_class=3)


def test_all_classes_in_the_pairs_file(people: Path) -> None:
    write_pairs(people, *(f"p{n:02d}/p{n:02d}_0001.png,p{n:02d}/p{n:02d}_0002.png,1" for n in range(PEOPLE)))
    with pytest.raises(ValueError, match="classes in the pairs file are test classes"):
        load(people)


def test_root_that_cannot_be_written_to(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr("datasets._place._writable", lambda folder: False)
    load(people)
    assert not (people / ".cache").exists()
    assert list((tmp_path / "user" / "marginbench").iterdir())
