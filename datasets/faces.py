"""Faces as the field has them: insightface's packs, tar shards, trees, zips, and verification sets of pairs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from datasets._data import Data, Split, people
from datasets._dataset import Dataset
from datasets._draws import Draws
from datasets._encoded import EncodedImages
from datasets._errors import InputError, MissingDataError
from datasets._options import Flag, Real, Sets, Text, Whole
from datasets._pair_list import PairList
from datasets._pixels import decode_once
from datasets._place import Place
from datasets._recognise import open_source
from datasets._source import Source
from datasets._splits import hold_out_identities, pick_classes, with_pairs
from datasets._test_sets import Reading, TestSet, lost_in_tree, read_listed, read_test_set

NONE = "none"
RESERVED = ("train", "val")
WHERE_TO_GET = (
    "insightface's dataset zoo (https://github.com/deepinsight/insightface, recognition/_datasets_) has CASIA-WebFace "
    "(faces_webface_112x112), MS1MV2, MS1MV3 and Glint360K with lfw.bin, cfp_fp.bin and agedb_30.bin inside; "
    "Hugging Face has mirrors of them as tar shards and parquet"
)


class Faces(Dataset):
    name = "faces"
    summary = "faces to train on, and several sets of pairs to test on: .rec, tar, zip, folders, .bin, parquet; open"
    protocol = "open"
    example = {"train": "people", "tests": ["others"], "size": 16}

    train = Text(
        "", "insightface's folder or .rec, tar shards (a folder, a file or a glob), a tree of folders or a .zip"
    )
    tests = Sets([], "sets of pairs: .bin, parquet, a pairs file (with its images), or images to draw pairs of")
    val = Text("", "a set of pairs; empty: people held out of the training people; none: no validation")
    val_share = Real(0.05, "share of the training people that validates", low=0.0001, high=0.8)
    min_per_class = Whole(1, "people with fewer images are not trained on", low=1, high=10_000)
    exclude_test = Flag(True, "do not train on people of the test sets, where people have names")
    size = Whole(112, "height and width in pixels", low=8, high=512)
    channels = Whole(3, "3: colour, 1: grey", low=1, high=3)
    max_corrupt = Real(0.05, "share of unreadable images above which loading fails", low=0.0, high=1.0)
    memory_mb = Whole(
        2048, "a larger training set stays encoded, known by its index, not its pixels", low=0, high=1 << 20
    )

    def test_sets(self) -> list[str]:
        return [name for name, _ in map(_named, self.tests)]

    def build(self, place: Place, seed: int) -> Data:
        self._check_options()
        self._room = self.memory_mb << 20
        paths = _find(self.train, [place.root])
        folders = [place.root, paths[0] if paths[0].is_dir() else paths[0].parent]
        source = open_source(paths, place.cache)
        if isinstance(source, PairList):
            raise InputError(f"faces: {paths[0]} has pairs without classes; it can test, not train")
        train, notes = self._read_train(source, place.cache)
        reading = Reading(
            place.cache, self.size, self.channels, self.max_corrupt, self.memory_mb << 20, self._take_room
        )
        given = dict(map(_named, self.tests))
        tests = {name: self._read_set(name, one, folders, source, reading, seed) for name, one in given.items()}
        val = None
        if self.val not in ("", NONE):
            val = self._read_set("val", self.val, folders, source, reading, seed)
        train, more = self._training_people(train, {**tests, **({} if val is None else {"val": val})})
        notes += [note for one in (*tests.values(), *([] if val is None else [val])) for note in one.notes]
        train, validation, shares = self._hold_out(train, val, seed)
        splits, files = ({name: getattr(one, key) for name, one in tests.items()} for key in ("split", "sha256"))
        return Data(self.name, "open", train, validation, splits, (*notes, *more, *shares), files=files)

    def pairs_lost(self, place: Place) -> tuple[str, ...]:
        self._check_options()
        paths = _find(self.train, [place.root])
        folders = [place.root, paths[0] if paths[0].is_dir() else paths[0].parent]
        notes = []
        for name, one in map(_named, self.tests):
            files, images = (one["pairs"], one["images"]) if isinstance(one, dict) else (one, None)
            found = _find(files, folders)
            notes += [
                f"{name}: {note}" for note in lost_in_tree(found, paths if images is None else _find(images, folders))
            ]
        return tuple(notes)

    def _check_options(self) -> None:
        if self.channels == 2:
            raise InputError("faces: option channels=2: expected 3 (colour) or 1 (grey)")
        if not self.train or not self.tests:
            option = "tests" if self.train else "train"
            raise InputError(f"faces: option {option} is not given; it is {self.options()[option].meaning}")
        seen: dict[str, Any] = {}
        for name, one in map(_named, self.tests):
            if name in seen:
                raise InputError(
                    f"faces: two test sets are called {name!r}: {seen[name]} and {one}; name one of them, "
                    f"as in {{{name}_2: {one}}}"
                )
            if name in RESERVED or not re.fullmatch(r"[\w.+-]+", name):
                raise InputError(f"faces: a test set cannot be called {name!r}; name it, as in {{lfw: {one}}}")
            seen[name] = one

    def _take_room(self, needed: int) -> bool:
        """Whether so many bytes still fit in `memory_mb`; then they count from now on."""
        if needed > self._room:
            return False
        self._room -= needed
        return True

    def _read_train(self, source: Source, cache: Path) -> tuple[Split, list[str]]:
        names = source.names
        if not self._take_room(len(source) * self.channels * self.size**2):
            images = EncodedImages(source, self.size, self.channels)
            return Split(images, torch.from_numpy(source.labels), names), []
        decoded = decode_once(source, cache, self.size, self.channels, every_byte=True)
        notes = decoded.notes(self.name, self.max_corrupt)
        labels = torch.from_numpy(source.labels[decoded.good])
        return Split(decoded.in_memory(), labels, names), list(notes)

    def _read_set(
        self, name: str, one: Any, folders: Sequence[Path], source: Source, reading: Reading, seed: int
    ) -> TestSet:
        if isinstance(one, str):
            return read_test_set(name, _find(one, folders), source, reading, seed)
        (pairs,), images = (_find(one[key], folders) for key in ("pairs", "images"))
        return read_listed(name, pairs, open_source(images, reading.cache), reading)

    def _training_people(self, train: Split, sets: dict[str, TestSet]) -> tuple[Split, list[str]]:
        """Training classes without those of test sets and those that are too small."""
        own, notes = people(train.names), []
        excluded: set[str] = set()
        unnamed = []
        for name, one in sets.items():
            theirs = people(one.split.names) if one.split.identities == "given" else frozenset()
            if not theirs or not own:
                unnamed.append(name)
            elif shared := theirs & own:
                done = "they are not trained on" if self.exclude_test else "they are trained on (exclude_test is false)"
                notes.append(
                    f"{name}: {len(shared)} of its {len(one.split.names)} people are also in {self.train}; {done}"
                )
                excluded |= shared
        if unnamed:
            notes.append(f"{', '.join(unnamed)}: no names, so it is unknown how many of its people are in {self.train}")
        counts = train.class_counts.numpy()
        keep = [not self.exclude_test or name not in excluded for name in train.names]
        small = np.flatnonzero(keep & (counts < self.min_per_class) & (counts > 0))
        if len(small):
            notes.append(f"faces: {len(small)} people with fewer than {self.min_per_class} images are not trained on")
        kept = np.flatnonzero(keep & (counts >= self.min_per_class))
        return (train if len(kept) == len(counts) else pick_classes(train, kept)), notes

    def _hold_out(self, train: Split, given: TestSet | None, seed: int) -> tuple[Split, Split, list[str]]:
        if given is not None:
            return train, given.split, []
        if self.val == NONE:
            return train, replace(train.take(torch.empty(0, dtype=torch.int64)), names=()), []
        draws = Draws("validation people", seed)
        kept, held, notes = hold_out_identities(self.name, train.class_counts.numpy(), self.val_share, draws)
        val = with_pairs(pick_classes(train, held), "open", self.name, seed, "val")
        return pick_classes(train, kept), _only_paired(val), notes


def _only_paired(split: Split) -> Split:
    """Without images that no pair needs: of millions of images those that validate are a part."""
    used, places = torch.unique(split.pairs, return_inverse=True)
    smaller = split.take(used)
    labels = torch.unique(smaller.labels)
    whole = pick_classes(smaller, labels.numpy())
    return replace(whole, verification=replace(split.verification, pairs=places.reshape(-1, 2)))


def _named(one: Any) -> tuple[str, Any]:
    """A test set's name and its files. Unless it is named, its name is its file's stem."""
    if isinstance(one, dict) and set(one) != {"pairs", "images"}:
        return next(iter(one.items()))
    path = Path(one if isinstance(one, str) else one["pairs"])
    stem = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    return (path.parent.name if stem == "pairs" and path.parent.name else stem), one


def _find(text: str, folders: Sequence[Path]) -> list[Path]:
    """The file or folder, or the files of a glob, in the first of the folders that has it."""
    for folder in folders:
        if any(sign in text for sign in "*?["):
            found = sorted(Path(folder.anchor or ".").glob(str((folder / text).relative_to(folder.anchor))))
        else:
            found = [folder / text] if (folder / text).exists() else []
        if found:
            return found
    places = "\n".join(f"  {(folder / text).absolute()}" for folder in dict.fromkeys(folders))
    raise MissingDataError(
        f"faces: the data is not here. Looked for\n{places}\n{WHERE_TO_GET}. "
        f"Paths are relative to root (root= or MARGINBENCH_DATA), then to the training folder."
    )
