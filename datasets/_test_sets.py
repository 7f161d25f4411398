"""Sets of verification pairs: read from whatever holds them, with identities where they are known."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from datasets._data import Pairs, Split
from datasets._draws import Whole
from datasets._errors import InputError
from datasets._given_pairs import folds_in_order, given_pairs
from datasets._identities import by_first, different_images, join_identities
from datasets._named_pairs import NamedPairs
from datasets._pair_list import PairList
from datasets._pairs_file import find_pairs_file, read_pairs_file
from datasets._pixels import Decoded, decode_once
from datasets._recognise import PAIRS_FILE, open_source, recognise
from datasets._source import Picked, Source
from datasets._splits import with_pairs
from datasets._trees import Tree, class_of

PUBLISHED_PAIRS = {"lfw": 6000, "cfp_fp": 7000, "cfp_ff": 7000, "agedb_30": 6000, "calfw": 6000, "cplfw": 6000}
SEVERAL_FILES = {"cfp_fp": ("79.7", "76.5")}
"""Sizes in MB of different files of one name."""


@dataclass(frozen=True)
class TestSet:
    """A set of pairs, the SHA-256 of its file, and what a person should know of it."""

    __test__ = False

    split: Split
    sha256: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How test sets are read. `room` says whether so many bytes of the `memory` are left, and takes them."""

    cache: Path
    size: int
    channels: int
    max_corrupt: float
    memory: int
    room: Callable[[int], bool]

    def decode(self, name: str, source: Source) -> tuple[Decoded, tuple[str, ...]]:
        """The images, and notes on those that cannot be read."""
        decoded = decode_once(source, self.cache, self.size, self.channels, every_byte=False)
        return decoded, decoded.notes(name, self.max_corrupt)

    def split(self, decoded: Decoded, rows: Whole, labels: Whole, names: Sequence[str]) -> Split:
        """`rows` are numbers of images of the source; all of them are good."""
        place = np.cumsum(decoded.good) - 1
        images = decoded.stored().rows(torch.from_numpy(place[rows]))
        kept = images[torch.arange(len(rows))] if self.room(len(rows) * int(np.prod(decoded.shape))) else images
        return Split(kept, torch.from_numpy(labels), tuple(names))


def read_test_set(name: str, paths: Sequence[Path], tree: Source | None, reading: Reading, seed: int) -> TestSet:
    """The set in these files. `tree` has the images of a pairs file that comes without any."""
    if len(paths) == 1 and paths[0].is_file() and recognise(paths[0]) == PAIRS_FILE:
        images = tree if tree is not None and tree.paths else open_source([paths[0].parent], reading.cache)
        return read_listed(name, paths[0], images, reading)
    source = open_source(paths, reading.cache)
    if isinstance(source, PairList):
        return _read_pair_list(name, source, None, reading)
    listed = find_pairs_file(source.root, "") if isinstance(source, Tree) else None
    return _read_drawn(name, source, reading, seed) if listed is None else read_listed(name, listed, source, reading)


def lost_in_tree(paths: Sequence[Path], images: Sequence[Path]) -> tuple[str, ...]:
    """Notes on pairs without images, where a pairs file and the tree or zip of its images tell; reads names alone."""
    file = find_pairs_file(paths[0], "") if paths[0].is_dir() else paths[0]
    if file is None or recognise(file) != PAIRS_FILE:
        return ()
    if paths[0].is_dir() or not images_have_names(images):
        images = [file.parent]
    with tempfile.TemporaryDirectory() as index:  # an index that is not kept
        names = open_source(images, Path(index)).paths if images_have_names(images) else ()
    return read_pairs_file(file, names).notes if names else ()


def images_have_names(paths: Sequence[Path]) -> bool:
    """Whether they are a tree of folders or a zip."""
    path = paths[0]
    if len(paths) > 1 or not path.is_dir():
        return len(paths) == 1 and recognise(path) == "zip"
    return not any(entry.name.endswith((".rec", ".tar", ".tar.gz", ".tgz")) for entry in path.iterdir())


def read_listed(name: str, pairs_file: Path, images: Source, reading: Reading) -> TestSet:
    """A pairs file with its images: a tree of them, or a list of pairs in the same order."""
    if isinstance(images, PairList):
        return _read_pair_list(name, images, read_pairs_file(pairs_file, None), reading)
    if not images.paths:
        raise InputError(f"{pairs_file}: its images must be a tree or a zip, where they have names: class/image.jpg")
    listed = read_pairs_file(pairs_file, images.paths)
    place = {path: number for number, path in enumerate(images.paths)}
    chosen = np.array([place[path] for path in listed.images], dtype=np.int64)
    if len(images) * reading.channels * reading.size**2 > reading.memory:  # do not decode millions for a few
        images, place = Picked(images, chosen), {path: number for number, path in enumerate(listed.images)}
    decoded, unread = reading.decode(name, images)
    pairs = np.array([(place[pair.first], place[pair.second]) for pair in listed.pairs], dtype=np.int64)
    in_file = all(pair.fold is not None for pair in listed.pairs)
    same = np.array([pair.same for pair in listed.pairs], dtype=bool)
    fold, dealt = (np.array([pair.fold for pair in listed.pairs]), "") if in_file else folds_in_order(same)
    people = [class_of(path) for path in images.paths]
    split, notes = _with_people(name, decoded, pairs, same, fold, people, reading)
    digest = hashlib.sha256(pairs_file.read_bytes()).hexdigest()
    own = (f"{name}: {note}" for note in (*listed.notes, dealt) if note)
    return TestSet(split, digest, (*own, *notes, *unread))


def _with_people(
    name: str,
    decoded: Decoded,
    pairs: Whole,
    same: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    fold: Whole,
    people: Sequence[str],
    reading: Reading,
) -> tuple[Split, tuple[str, ...]]:
    """Identities are given: `people[n]` is in image n. Identical images of one person are one."""
    whole = decoded.good[pairs].all(axis=1)
    label = by_first(np.array(people))[0]
    image = np.concatenate([decoded.hashes, label[:, None].astype("<i8").view(np.uint8)], axis=1)
    used = pairs[whole].reshape(-1)
    number, first = different_images(image[used])
    labels, first_person = by_first(label[used][first])
    split = reading.split(decoded, used[first], labels, [people[used[first][one]] for one in first_person])
    verification = given_pairs(number.reshape(-1, 2), same[whole], fold[whole].astype(np.int64))
    return replace(split, verification=verification), _lost(name, int((~whole).sum()), len(pairs))


def _read_pair_list(name: str, source: PairList, named: NamedPairs | None, reading: Reading) -> TestSet:
    decoded, unread = reading.decode(name, source)
    pairs, (fold, dealt) = np.arange(len(source)).reshape(-1, 2), folds_in_order(source.same)
    notes = (*_known_file(name, source), *([f"{name}: {dealt}"] if dealt else []), *unread)
    if named is not None:
        if [pair.same for pair in named.pairs] != source.same.tolist():
            raise InputError(
                f"{named.file} lists {len(named.pairs)} pairs that are not those of {source.file.path}, "
                f"which has {len(source.same)}"
            )
        people = [class_of(path) for pair in named.pairs for path in (pair.first, pair.second)]
        split, lost = _with_people(name, decoded, pairs, source.same, fold, people, reading)
        return TestSet(split, source.sha256, (*notes, *lost))
    whole = decoded.good[pairs].all(axis=1)
    used, same = pairs[whole].reshape(-1), source.same[whole]
    split, how = _without_people(decoded, used, same, reading)
    split = replace(split, verification=replace(split.verification, fold=torch.from_numpy(fold[whole])))
    return TestSet(split, source.sha256, (*notes, f"{name}: {how}", *_lost(name, int((~whole).sum()), len(pairs))))


def _without_people(
    decoded: Decoded, used: Whole, same: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], reading: Reading
) -> tuple[Split, str]:
    """Identities are not given: they are joined where that is sound and tells more than the pairs, else unknown."""
    content = decoded.hashes[used]
    number, first = different_images(content)
    one, other = content[0::2][~same], content[1::2][~same]
    joined = None if (one == other).all(axis=1).any() else join_identities(number, same)
    if joined is not None and _pairs_of_each(joined[number.reshape(-1, 2)]).max(initial=0) > 1:
        split = reading.split(decoded, used[first], joined, [str(one) for one in range(int(joined.max()) + 1)])
        split = replace(split, verification=_in_one_fold(number, same), identities="joined")
        return split, f"no identities given; genuine pairs join {len(split)} images to {len(split.names)} identities"
    image = np.arange(len(used))  # every pair gets images of its own, so that labels say what the pair says
    labels = by_first(np.where(np.repeat(same, 2), image - image % 2, image))[0]
    split = reading.split(decoded, used, labels, [str(one) for one in range(int(labels.max(initial=-1)) + 1)])
    because = "its pairs contradict each other" if joined is None else "no two pairs share an identity"
    split = replace(split, verification=_in_one_fold(image, same), identities="unknown")
    return split, f"identities are unknown ({because}), so intervals are by pairs"


def _in_one_fold(image: Whole, same: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Pairs:
    return given_pairs(image.reshape(-1, 2), same, np.zeros(len(same), dtype=np.int64))


def _pairs_of_each(identities: Whole) -> Whole:
    """How many pairs (P×2) each identity takes part in."""
    two = identities[:, 0] != identities[:, 1]
    return np.bincount(np.concatenate([identities[:, 0], identities[two, 1]]))


def _read_drawn(name: str, source: Source, reading: Reading, seed: int) -> TestSet:
    """Images with classes and no list of pairs: pairs are drawn by the seed of the split."""
    decoded, unread = reading.decode(name, source)
    rows = np.flatnonzero(decoded.good)
    labels, first = by_first(source.labels[rows])
    names = [source.names[label] for label in source.labels[rows][first].tolist()]
    split = with_pairs(reading.split(decoded, rows, labels, names), "open", name, seed, "test")
    return TestSet(split, source.fingerprint(), unread)


def _known_file(name: str, source: PairList) -> tuple[str, ...]:
    """What is known of files of this name."""
    count, size = len(source.same), f"{source.file.size / 1e6:.1f}"
    if (published := PUBLISHED_PAIRS.get(name, count)) != count:
        return (f"{name}: {count} pairs; the published set of this name has {published}",)
    if size in (sizes := SEVERAL_FILES.get(name, ())):
        return (f"{name}: this is the file of {size} MB; files of {' and '.join(sizes)} MB differ by 2 points",)
    return ()


def _lost(name: str, lost: int, total: int) -> tuple[str, ...]:
    return (f"{name}: {lost} of {total} pairs left out, because an image cannot be read",) if lost else ()
