"""The dataset faces: one training set in any form, several sets of pairs in any form, on made-up and on real faces."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import torch

import datasets
from datasets import Data, Split
from datasets._data import image_hashes
from datasets._encoded import EncodedImages
from tests.datasets.packs import (
    Images,
    some_images,
    write_bin,
    write_parquet,
    write_rec,
    write_shards,
    write_tree,
    write_zip,
)

REAL = Path(os.environ.get("MARGINBENCH_DATA") or "nowhere")
needs_lfw = pytest.mark.skipif(not (REAL / "lfw").is_dir(), reason="MARGINBENCH_DATA has no lfw")
TRAIN = some_images(14, 5)
TEST = some_images(8, 4, first=20)

Write = Callable[[Path, Images], Path]
FORMS: dict[str, Write] = {
    "tree": lambda folder, images: write_tree(folder / "tree", images),
    "zip": lambda folder, images: write_zip(folder / "x.zip", images),
    "deflated zip": lambda folder, images: write_zip(folder / "x.zip", images, "top/", zipfile.ZIP_DEFLATED),
    "insightface's folder": lambda folder, images: write_rec(folder / "rec" / "train.rec", images).parent,
    "im2rec": lambda folder, images: write_rec(folder / "x.rec", images, header=False, shuffled=True),
    "tar shards": lambda folder, images: write_shards(folder / "tar", images),
    "tar.gz shards": lambda folder, images: write_shards(folder / "gz", images, packed="gz"),
}
Listed = list[tuple[str, str, bool]]


def load(root: Path, **options: object) -> Data:
    given = {"train": "train", "tests": ["test"], "size": 16, **options}
    return datasets.load("faces", root, cache=root / "cache", **given)  # type: ignore[arg-type]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path / "train", TRAIN)
    write_tree(tmp_path / "test", TEST)
    return tmp_path


def listed(images: Images, folds: int = 2) -> Listed:
    """In each fold as many pairs of one person as of two."""
    names = list(dict.fromkeys(path.split("/")[0] for path, _ in images))
    image = lambda person, number: f"{person}/{person}_{number:04d}.jpg"  # noqa: E731
    rows = []
    for fold in range(folds):
        own = names[fold::folds]
        rows += [(image(one, 1), image(one, 2), True) for one in own[:-1]]
        rows += [(image(one, 1), image(other, 3), False) for one, other in pairwise(own)]
    return rows


def write_listed(folder: Path, form: str, images: Images, rows: Listed) -> object:
    """A test set of these pairs; what to put into `tests`."""
    content = dict(images)
    encoded = [content[path] for first, second, _ in rows for path in (first, second)]
    same = [one for _, _, one in rows]
    if form == "bin":
        write_bin(folder / "pairs_set.bin", encoded, same)
        return "pairs_set.bin"
    if form == "parquet":
        write_parquet(folder / "pairs_set.parquet", encoded, same)
        return "pairs_set.parquet"
    text = "".join(f"{first},{second},{int(one)}\n" for first, second, one in rows)
    (folder / "pairs_set.csv").write_text(text)
    if form == "csv and tree":
        write_tree(folder / "images", images)
        return {"pairs_set": {"pairs": "pairs_set.csv", "images": "images"}}
    assert form == "csv and zip"
    write_zip(folder / "images.zip", images)
    return {"pairs": "pairs_set.csv", "images": "images.zip"}


PAIR_FORMS = ["bin", "parquet", "csv and tree", "csv and zip"]


def pixels(split: Split) -> bytes:
    return b"".join(image_hashes(split.images))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_training_data_gives_the_same_digest(tmp_path: Path, root: Path, form: str) -> None:
    (tmp_path / "forms").mkdir()
    path = FORMS[form](tmp_path / "forms", TRAIN)
    expected, data = load(root), load(root, train=str(path))
    assert data.digest == expected.digest
    assert torch.equal(data.train.images[torch.arange(3)], expected.train.images[torch.arange(3)])


@pytest.mark.parametrize("form", FORMS)
def test_images_that_stay_encoded_are_the_same_images(tmp_path: Path, root: Path, form: str) -> None:
    (tmp_path / "forms").mkdir()
    path = FORMS[form](tmp_path / "forms", TRAIN)
    whole, streamed = load(root), load(root, train=str(path), memory_mb=0)
    images = streamed.train.images
    assert isinstance(images, EncodedImages)
    index = torch.tensor([5, 0, 7, 5])
    assert torch.equal(images[index], whole.train.images[index])
    assert torch.equal(pickle.loads(pickle.dumps(images))[index], whole.train.images[index])
    assert torch.equal(streamed.train.labels, whole.train.labels)
    assert torch.equal(streamed.val.pairs, whole.val.pairs)
    assert streamed.digest == load(root, train=str(path), memory_mb=0).digest != whole.digest
    assert streamed.train_digest != load(root, train=str(path), memory_mb=0, seed=1).train_digest


@pytest.mark.parametrize("form", PAIR_FORMS)
def test_every_form_of_pairs_gives_the_same_pixels_and_pairs(root: Path, form: str) -> None:
    rows = listed(TEST)
    expected = load(root, tests=[write_listed(root, "bin", TEST, rows)]).tests["pairs_set"]
    data = load(root, tests=[write_listed(root, form, TEST, rows)])
    split = data.tests["pairs_set"]
    assert pixels(split) == pixels(expected)
    for key in ("pairs", "same", "fold"):
        assert torch.equal(getattr(split, key), getattr(expected, key))
    assert torch.equal(split.labels[split.pairs[:, 0]] == split.labels[split.pairs[:, 1]], split.same)
    assert split.identities == ("joined" if form in ("bin", "parquet") else "given")
    assert len(data.files["pairs_set"]) == 64
    given = write_listed(root, "csv and tree", TEST, rows)
    assert isinstance(given, dict)
    if form in ("bin", "parquet"):  # the original pairs file gives the names
        named = {"pairs_set": {"pairs": "pairs_set.csv", "images": f"pairs_set.{form}"}}
        assert load(root, tests=[named]).digest == load(root, tests=[given]).digest


def test_several_test_sets_and_their_names(root: Path) -> None:
    rows = listed(TEST)
    write_listed(root, "bin", TEST, rows)
    (root / "other").mkdir()
    write_bin(root / "other" / "pairs_set.bin", [content for _, content in TEST[:16]], [True, False] * 4)
    data = load(root, tests=["pairs_set.bin", {"second": "other/pairs_set.bin"}, "test"])
    assert list(data.tests) == list(data.files) == ["pairs_set", "second", "test"]
    assert len({*data.files.values()}) == 3
    with pytest.raises(ValueError, match=r"two test sets are called 'pairs_set': .* name one of them"):
        load(root, tests=["pairs_set.bin", "other/pairs_set.bin"])
    with pytest.raises(ValueError, match="a test set cannot be called 'val'"):
        load(root, tests=[{"val": "pairs_set.bin"}])
    with pytest.raises(ValueError, match="expected a list of files"):
        load(root, tests=[{"a": "x", "b": "y"}])
    with pytest.raises(ValueError, match="expected a list of files"):
        load(root, tests="pairs_set.bin")
    with pytest.raises(ValueError, match="option tests is not given"):
        load(root, tests=[])
    with pytest.raises(ValueError, match="option train is not given"):
        load(root, train="")


def test_training_does_not_depend_on_the_test_sets(root: Path) -> None:
    rows = listed(TEST)
    one, other = load(root), load(root, tests=["test", write_listed(root, "bin", TEST, rows)])
    assert one.train_digest == other.train_digest
    assert one.digest != other.digest


def test_paths_are_looked_for_in_root_then_beside_the_training_data(root: Path) -> None:
    write_listed(root / "train", "bin", TEST, listed(TEST))
    assert list(load(root, tests=["pairs_set.bin"]).tests) == ["pairs_set"]
    with pytest.raises(FileNotFoundError) as caught:
        load(root, tests=["cfp_fp.bin"])
    message = str(caught.value)
    for part in (root / "cfp_fp.bin", root / "train" / "cfp_fp.bin", "insightface", "MARGINBENCH_DATA"):
        assert str(part) in message
    with pytest.raises(FileNotFoundError, match="faces_webface_112x112"):
        load(root, train="faces_webface_112x112")


def test_a_glob_of_shards(root: Path) -> None:
    write_shards(root / "tar", TRAIN, 4)
    assert load(root, train="tar/shard-*.tar").digest == load(root).digest
    assert len(load(root, train="tar/shard-000[01].tar").train) < len(load(root).train)


def test_validation(root: Path) -> None:
    held = load(root, val_share=0.5)
    assert (len(held.val.names), held.num_classes) == (7, 7)
    assert not set(held.val.names) & set(held.train.names)
    none = load(root, val="none")
    assert (len(none.val), none.num_classes) == (0, 14)
    write_listed(root, "bin", TEST, listed(TEST))
    named = load(root, val="pairs_set.bin")
    assert (len(named.val.pairs), named.num_classes) == (12, 14)
    with pytest.raises(ValueError, match=r"2 people each are needed .* of 0 people"):
        load(root, min_per_class=6)


def test_small_classes_and_shares_that_cannot_be_kept(root: Path) -> None:
    for path, _ in TRAIN:
        if path[:4] in ("p003", "p004") and not path.endswith("_0001.jpg"):
            (root / "train" / path).unlink()
    data = load(root, min_per_class=2)
    assert data.num_classes + len(data.val.names) == 12
    assert "faces: 2 people with fewer than 2 images are not trained on" in data.notes
    for path, _ in TRAIN:
        if path[:4] > "p002" and not path.endswith("_0001.jpg"):
            (root / "train" / path).unlink(missing_ok=True)
    assert "faces: 4 people were to validate, only 3 have 2 images" in load(root).notes


def test_people_of_a_test_set_are_not_trained_on(root: Path) -> None:
    write_tree(root / "train", TEST[:8])  # two of the eight people
    data = load(root)
    assert not {"p020", "p021"} & {*data.train.names, *data.val.names}
    assert "test: 2 of its 8 people are also in train; they are not trained on" in data.notes
    assert data.test_people_in_training() == {"test": ()}
    kept = load(root, exclude_test=False, val="none")
    assert {"p020", "p021"} <= {*kept.train.names}
    assert kept.test_people_in_training() == {"test": (0, 1)}
    assert any("they are trained on" in note for note in kept.notes)
    write_listed(root, "bin", TEST, listed(TEST))
    unknown = load(root, tests=["pairs_set.bin"], val="none")
    assert "pairs_set: no names, so it is unknown how many of its people are in train" in unknown.notes
    assert unknown.test_people_in_training() == {}


def test_numbers_are_not_names(root: Path) -> None:
    write_rec(root / "train.rec", TRAIN)
    write_rec(root / "test.rec", TEST)
    data = load(root, train="train.rec", tests=["test.rec"])
    assert data.num_classes + len(data.val.names) == 14
    assert data.test_people_in_training() == {}


def test_a_pairs_file_of_the_training_tree(root: Path) -> None:
    """Folds, and people who test do not train."""
    rows = [f"p{n:03d}\t1\t2" for n in range(2)] + [f"p{n:03d}\t3\tp{n + 1:03d}\t4" for n in range(2)]
    rows += [f"p{n:03d}\t1\t2" for n in (3, 4)] + ["p003\t3\tp004\t9", "p003\t4\tp004\t4"]
    (root / "lists").mkdir()
    (root / "lists" / "pairs.txt").write_text("\n".join(["2\t2", *rows]))
    data = load(root, tests=["lists/pairs.txt"])
    assert list(data.tests) == ["lists"]
    assert data.test.names == ("p000", "p001", "p002", "p003", "p004")
    assert data.test.fold.tolist() == [0] * 4 + [1] * 3
    assert data.num_classes + len(data.val.names) == 9
    assert "lists: pairs.txt: 1 of 8 pairs left out; missing images: 1" in data.notes


def test_identities_that_pairs_contradict_are_unknown(root: Path) -> None:
    images = [content for _, content in TEST[:3]]
    one, two, three = images
    write_bin(root / "set.bin", [one, two, two, three, one, three, *images[:2]], [True, True, False, False])
    split = load(root, tests=["set.bin"]).test
    assert split.identities == "unknown"
    assert (len(split), len(split.pairs)) == (8, 4)
    assert torch.equal(split.labels[split.pairs[:, 0]] == split.labels[split.pairs[:, 1]], split.same)
    write_bin(
        root / "set.bin", [one, two, two, three, TEST[9][1], one, TEST[9][1], TEST[10][1]], [True, True, False, True]
    )
    split = load(root, tests=["set.bin"]).test
    assert split.identities == "joined"
    assert split.labels.tolist() == [0, 0, 0, 1, 1]
    assert split.pairs.tolist() == [[0, 1], [1, 2], [3, 0], [3, 4]]


def test_folds_are_in_the_order_of_the_file(root: Path) -> None:
    images = [content for _, content in TEST[:32]] + [content for _, content in TEST[:14]]
    write_bin(root / "set.bin", images, [True, False] * 11 + [True])
    assert load(root, tests=["set.bin"]).test.fold.bincount().tolist() == [3, 3, 3, 2, 2, 2, 2, 2, 2, 2]
    write_bin(root / "set.bin", images, [True] * 12 + [False] * 11)
    data = load(root, tests=["set.bin"])
    assert all(set(data.test.same[data.test.fold == fold].tolist()) == {True, False} for fold in range(10))
    assert "set: tenths of the file have pairs of one kind, so folds are tenths of each kind instead" in data.notes
    write_bin(root / "set.bin", images, [True] * 23)
    with pytest.raises(ValueError, match=r"the test set set has 0 pair\(s\) of different classes"):
        load(root, tests=["set.bin"])


def test_wrong_sets(root: Path) -> None:
    images = [content for _, content in TEST[:5]]
    write_bin(root / "odd.bin", images, [True, False])
    with pytest.raises(ValueError, match=r"odd\.bin: 5 images came for 2 pairs, expected 4"):
        load(root, tests=["odd.bin"])
    write_bin(root / "empty.bin", [], [])
    with pytest.raises(ValueError, match=r"empty\.bin holds no pairs"):
        load(root, tests=["empty.bin"])
    write_bin(root / "set.bin", images[:4], [True, False])
    with pytest.raises(ValueError, match="has pairs without classes; it can test, not train"):
        load(root, train="set.bin")
    (root / "names.csv").write_text("a/1.jpg,a/2.jpg,1\n")
    with pytest.raises(ValueError, match=r"names\.csv lists 1 pairs that are not those of .*set\.bin, which has 2"):
        load(root, tests=[{"pairs": "names.csv", "images": "set.bin"}])
    write_rec(root / "test.rec", TEST)
    with pytest.raises(ValueError, match="its images must be a tree or a zip"):
        load(root, tests=[{"pairs": "names.csv", "images": "test.rec"}])
    (root / "nobody").mkdir()
    with pytest.raises(ValueError, match="has no file class/image"):
        load(root, train="nobody")
    with pytest.raises(ValueError, match="channels=2"):
        load(root, channels=2)


def test_an_image_that_is_no_image(root: Path) -> None:
    rows = listed(TEST, folds=1)
    encoded = [dict(TEST)[path] for first, second, _ in rows for path in (first, second)]
    encoded[3] = b"\xff\xd8\xff no image"
    write_bin(root / "set.bin", encoded, [one for _, _, one in rows])
    with pytest.warns(UserWarning, match=r"set: 1 of 28 images could not be read: .*set\.bin, image 3 \(pair 1\)"):
        data = load(root, tests=["set.bin"])
    assert len(data.test.pairs) == 13
    assert "set: 1 of 14 pairs left out, because an image cannot be read" in data.notes
    broken = [*TRAIN[:7], (TRAIN[7][0], b"no image"), *TRAIN[8:]]
    file = write_rec(root / "train.rec", broken)
    with pytest.warns(
        UserWarning, match=r"faces: 1 of 70 images could not be read: .*train\.rec, record 8 \(byte \d+\)"
    ):
        assert len(load(root, train="train.rec", val="none").train) == 69
    with pytest.raises(ValueError, match=r"more than max_corrupt=0\.01 of them"):
        load(root, train="train.rec", max_corrupt=0.01)
    streamed = load(root, train="train.rec", val="none", memory_mb=0)
    with pytest.raises(ValueError, match=rf"{file}, record 8 \(byte \d+\): it is not a readable image"):
        streamed.train.images[torch.arange(10)]


def test_test_sets_that_do_not_fit_in_memory_are_the_same(root: Path) -> None:
    whole, streamed = load(root), load(root, memory_mb=0)
    assert isinstance(whole.test.images, torch.Tensor)
    assert not isinstance(streamed.test.images, torch.Tensor)
    assert pixels(whole.test) == pixels(streamed.test)
    assert torch.equal(streamed.test.images[torch.arange(4)], whole.test.images[:4])


def test_nothing_is_written_beside_the_data(root: Path) -> None:
    write_shards(root / "gz", TRAIN, packed="gz")
    before = sorted(root.rglob("*"))
    load(root, train="gz")
    assert [path for path in sorted(root.rglob("*")) if "cache" not in path.parts] == before


# Real faces


def some_lfw(people: int = 12, each: int = 4) -> Images:
    with zipfile.ZipFile(REAL / "lfw" / "lfw-gray112.zip") as archive:
        by_person: dict[str, list[str]] = {}
        for path in sorted(archive.namelist()):
            by_person.setdefault(path.split("/")[0], []).append(path)
        chosen = [paths[:each] for paths in by_person.values() if len(paths) >= each][:people]
        return [(path, archive.read(path)) for paths in chosen for path in paths]


@needs_lfw
def test_real_faces_in_every_form_are_the_same(tmp_path: Path) -> None:
    images = some_lfw()
    write_tree(tmp_path / "test", images[:16])
    options = {"size": 112, "exclude_test": False}
    digests = set()
    for number, (form, write) in enumerate(FORMS.items()):
        (tmp_path / str(number)).mkdir()
        digests.add(load(tmp_path, train=str(write(tmp_path / str(number), images)), **options).digest)
        assert len(digests) == 1, form


@needs_lfw
def test_a_folder_of_insightface(tmp_path: Path) -> None:
    """A part of the pack keeps the test quick: people with few images are left out."""
    data = datasets.load(
        "faces",
        REAL,
        cache=tmp_path,
        train="faces_lfw_112x112",
        tests=["lfw.bin", "cfp_fp.bin", "agedb_30_py2.bin"],
        size=32,
        channels=1,
        min_per_class=15,
    )
    assert list(data.tests) == ["lfw", "cfp_fp", "agedb_30_py2"]
    assert {name: len(split.pairs) for name, split in data.tests.items()} == {
        "lfw": 1100,
        "cfp_fp": 440,
        "agedb_30_py2": 440,
    }
    assert pixels(data.tests["cfp_fp"]) == pixels(data.tests["agedb_30_py2"])
    assert data.files["cfp_fp"] != data.files["agedb_30_py2"]
    assert {split.identities for split in data.tests.values()} == {"joined"}
    assert "lfw: 1100 pairs; the published set of this name has 6000" in data.notes
    assert data.class_counts.min() >= 15


@needs_lfw
def test_the_official_pairs_of_lfw(tmp_path: Path) -> None:
    data = datasets.load(
        "faces", REAL, cache=tmp_path, train="lfw/lfw-gray112.zip", tests=["lfw/pairs.txt"], size=16, channels=1,
        val="none",
    )  # fmt: skip
    assert list(data.tests) == ["lfw"]
    assert (len(data.test.pairs), data.test.identities) == (5605, "given")
    assert data.test.fold.bincount().tolist() == [553, 562, 567, 545, 564, 571, 554, 564, 559, 566]
    assert any("395 of 6000 pairs left out; missing images: 264" in note for note in data.notes)
    assert not set(data.train.names) & set(data.test.names)
    assert (data.num_classes, len(data.test.names)) == (1526, 4090)
