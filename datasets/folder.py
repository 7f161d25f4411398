"""Your own images: one subfolder per class."""

from dataclasses import replace

import numpy as np
import torch

from datasets._data import Data, Split
from datasets._dataset import Dataset
from datasets._draws import Draws
from datasets._draws import Whole as Wholes
from datasets._errors import InputError
from datasets._given_pairs import pairs_in_split
from datasets._named_pairs import NamedPairs
from datasets._names import ONLY_TEST
from datasets._options import Choice, Real, Text, Whole
from datasets._pairs_file import find_pairs_file, read_pairs_file
from datasets._pixels import decode_once
from datasets._place import Place
from datasets._splits import closed_split, hold_out, open_split, pick_classes, shorten
from datasets._trees import scan_tree


class Folder(Dataset):
    name = "folder"
    summary = "your own images, class/image.png, with an optional pairs file; open or closed"
    example = {"path": "people", "size": 16}

    path = Text("", "the folder, relative to root; empty: root itself")
    protocol = Choice("open", "open: test on other classes; closed: on other images", among=("open", "closed"))
    size = Whole(64, "height and width in pixels", low=8, high=512)
    channels = Whole(3, "3: colour, 1: grey", low=1, high=3)
    test_share = Real(0.2, "share of the classes (closed: of each class's images) to test on", low=0.01, high=0.8)
    val_share = Real(0.1, "share of the others to validate on", low=0.01, high=0.8)
    min_per_class = Whole(1, "classes with fewer images are not trained on", low=1, high=10_000)
    pairs = Text("", "the pairs file in the folder; empty: pairs.csv or pairs.txt if there is one")
    max_corrupt = Real(0.05, "share of unreadable images above which loading fails", low=0.0, high=1.0)
    memory_mb = Whole(2048, "above it images stay on disk", low=0, high=1 << 20, incidental=True)

    def build(self, place: Place, seed: int) -> Data:
        if self.channels == 2:
            raise InputError("folder: option channels=2: expected 3 (colour) or 1 (grey)")
        tree = scan_tree(place.root / self.path)
        pairs_file = find_pairs_file(tree.root, self.pairs)
        named = None if pairs_file is None else read_pairs_file(pairs_file, tree.paths)
        in_memory = len(tree) * self.channels * self.size**2 <= self.memory_mb << 20
        decoded = decode_once(tree, place.cache, self.size, self.channels, every_byte=in_memory)
        notes = decoded.notes(self.name, self.max_corrupt)
        rows = np.flatnonzero(decoded.good)
        paths = [tree.paths[row] for row in rows.tolist()]
        images = decoded.in_memory() if in_memory else decoded.stored()
        everything = Split(images, torch.from_numpy(tree.labels[rows]), tree.names)
        data = self._split(everything, paths, named, seed)
        return replace(data, notes=(*notes, *data.notes))

    def pairs_lost(self, place: Place) -> tuple[str, ...]:
        tree = scan_tree(place.root / self.path)
        pairs_file = find_pairs_file(tree.root, self.pairs)
        return () if pairs_file is None else read_pairs_file(pairs_file, tree.paths).notes

    def _split(self, everything: Split, paths: list[str], named: NamedPairs | None, seed: int) -> Data:
        split = self._split_open if self.protocol == "open" else self._split_closed
        data, test_paths = split(everything, paths, named, seed)
        if named is None:
            return data
        pairs, notes = pairs_in_split(named, test_paths, data.test.labels, seed)
        tests = {ONLY_TEST: replace(data.test, verification=pairs)}
        return replace(data, tests=tests, notes=(*data.notes, *notes))

    def _split_closed(
        self, everything: Split, paths: list[str], named: NamedPairs | None, seed: int
    ) -> tuple[Data, list[str]]:
        large = np.flatnonzero(everything.class_counts.numpy() >= self.min_per_class)
        notes = self._note_small(len(everything.names) - len(large))
        kept_rows = torch.nonzero(torch.isin(everything.labels, torch.from_numpy(large))).flatten()
        everything, paths = pick_classes(everything, large), [paths[row] for row in kept_rows.tolist()]
        if named is None:
            self._need_images(everything, 3)
            kept, held = hold_out(everything.labels, self.test_share, self.name, seed, "test")
        else:
            wanted = set(named.images)
            tested = torch.tensor([path in wanted for path in paths])
            kept, held = torch.nonzero(~tested).flatten(), torch.nonzero(tested).flatten()
        data = closed_split(self.name, everything.take(kept), everything.take(held), self.val_share, seed)
        return replace(data, notes=tuple(notes)), [paths[place] for place in held.tolist()]

    def _need_images(self, everything: Split, needed: int) -> None:
        few = [everything.names[n] for n in np.flatnonzero(everything.class_counts.numpy() < needed)]
        if few:
            raise InputError(
                f"folder: protocol='closed' needs {needed} images per class (to train, validate and test on); "
                f"{len(few)} of {len(everything.names)} classes have fewer: {shorten(few)}; "
                f"min_per_class={needed} leaves them out"
            )

    def _split_open(
        self, everything: Split, paths: list[str], named: NamedPairs | None, seed: int
    ) -> tuple[Data, list[str]]:
        counts = everything.class_counts.numpy()
        order = [label for label in Draws("identities", seed).permutation(len(counts)).tolist() if counts[label]]
        notes: list[str] = []
        if named is None:
            test = self._share_of(order, counts, self.test_share, "test", notes)
        else:
            test = [label for label, name in enumerate(everything.names) if name in named.classes]
        others = [label for label in order if label not in set(test)]
        large = [label for label in others if counts[label] >= self.min_per_class]
        notes += self._note_small(len(others) - len(large))
        val = self._share_of(large, counts, self.val_share, "validate", notes)
        train = sorted(set(large) - set(val))
        self._need_identities(everything, test=len(test), val=len(val), train=len(train), given=named is not None)
        parts = {"train": np.array(train), "val": np.array(sorted(val)), "test": np.array(sorted(test))}
        chosen = np.flatnonzero(np.isin(everything.labels.numpy(), test))
        data = open_split(self.name, everything, parts, seed)
        return replace(data, notes=tuple(notes)), [paths[place] for place in chosen]

    def _share_of(self, classes: list[int], counts: Wholes, share: float, what: str, notes: list[str]) -> list[int]:
        """The first classes with a pair of images. Two classes make a pair; four make two folds."""
        wanted = max(round(share * len(classes)), 4 if len(classes) >= 12 else 2)
        found = [label for label in classes if counts[label] >= 2][:wanted]
        if len(found) < wanted:
            notes.append(f"folder: {wanted} classes were to {what}, only {len(found)} have 2 images")
        return found

    def _note_small(self, count: int) -> list[str]:
        return [f"folder: {count} classes with fewer than {self.min_per_class} images left out"] if count else []

    def _need_identities(self, everything: Split, *, test: int, val: int, train: int, given: bool) -> None:
        if min(test, val, train) >= 2:
            return
        several = int((everything.class_counts >= 2).sum())
        taken = " (classes in the pairs file are test classes)" if given else ""
        raise InputError(
            f"folder: protocol='open' needs 2 classes each to train, validate and test on, the last two with "
            f"2 images or more; of {len(everything.names)} classes, {several} with 2 images or more, "
            f"{train} would train, {val} validate and {test} test{taken}"
        )
