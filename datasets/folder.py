"""Your own images: one subfolder per class."""

import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import torch

from datasets._data import Data, Split
from datasets._dataset import Dataset
from datasets._decoding import Decoded, Tree, class_of, decode_tree, scan_tree
from datasets._draws import Draws
from datasets._errors import InputError
from datasets._options import Choice, Real, Text, Whole
from datasets._pairs_file import Named, NamedPair, find_pairs_file, pairs_in_split, read_pairs_file
from datasets._place import Place
from datasets._splits import closed_split, hold_out, open_split, shorten


class Folder(Dataset):
    name = "folder"
    summary = "your own images, class/image.png, with an optional pairs file; open or closed"
    example = {"path": "people", "size": 16}

    path = Text("", "the folder, relative to root; empty: root itself")
    protocol = Choice("open", "open: test on other classes; closed: on other images", among=("open", "closed"))
    size = Whole(64, "height and width in pixels", low=8, high=512)
    channels = Whole(3, "3: colour, 1: grey", low=1, high=3)
    test_share = Real(0.2, "share of the classes (closed: of each class's images) to test on", low=0.01, high=0.8)
    val_share = Real(0.1, "share of them to validate on", low=0.01, high=0.8)
    min_per_class = Whole(1, "classes with fewer images are left out", low=1, high=10_000)
    pairs = Text("", "the pairs file in the folder; empty: pairs.csv or pairs.txt if there is one")
    max_corrupt = Real(0.05, "share of unreadable images above which loading fails", low=0.0, high=1.0)
    memory_mb = Whole(2048, "above it images stay on disk", low=0, high=1 << 20, incidental=True)

    def build(self, place: Place, seed: int) -> Data:
        if self.channels == 2:
            raise InputError("folder: option channels=2: expected 3 (colour) or 1 (grey)")
        tree = scan_tree(place.root / self.path)
        pairs_file = find_pairs_file(tree.root, self.pairs)
        named = None if pairs_file is None else read_pairs_file(pairs_file, tree.paths)
        in_memory = len(tree.paths) * self.channels * self.size**2 <= self.memory_mb << 20
        decoded = decode_tree(tree, place.cache, self.size, self.channels, in_memory=in_memory)
        notes = self._note_corrupt(tree, decoded)
        everything, paths, left_out = self._labelled(tree, decoded, in_memory)
        data = self._split(everything, paths, named, seed)
        return replace(data, notes=(*notes, *left_out, *data.notes))

    def _note_corrupt(self, tree: Tree, decoded: Decoded) -> list[str]:
        count = len(decoded.problems)
        if count == 0:
            return []
        message = f"folder: {count} of {len(tree.paths)} images could not be read: {shorten(decoded.problems, 10)}"
        if count > self.max_corrupt * len(tree.paths):
            raise InputError(f"{message}; that is more than max_corrupt={self.max_corrupt:g} of them")
        warnings.warn(f"{message}; they are left out", stacklevel=4)
        return [message]

    def _labelled(self, tree: Tree, decoded: Decoded, in_memory: bool) -> tuple[Split, list[str], list[str]]:
        """Readable images of large enough classes, their paths, and a note about the other classes."""
        paths = [path for path, good in zip(tree.paths, decoded.good, strict=True) if good]
        counts = Counter(map(class_of, paths))
        names = sorted(name for name, count in counts.items() if count >= self.min_per_class)
        number = {name: label for label, name in enumerate(names)}
        kept = [place for place, path in enumerate(paths) if class_of(path) in number]
        labels = torch.tensor([number.get(class_of(path), -1) for path in paths], dtype=torch.int64)
        everything = Split(decoded.images(in_memory=in_memory), labels, tuple(names))
        small = sorted(set(counts) - set(names))
        notes = [f"folder: {len(small)} classes with fewer than {self.min_per_class} images left out"] if small else []
        return everything.take(torch.tensor(kept, dtype=torch.int64)), [paths[place] for place in kept], notes

    def _split(self, everything: Split, paths: list[str], named: list[NamedPair] | None, seed: int) -> Data:
        known = Named(paths, named)
        split = self._split_open if self.protocol == "open" else self._split_closed
        data, test_paths = split(everything, known, seed)
        if named is None:
            return data
        pairs, notes = pairs_in_split(named, test_paths, data.test.labels, seed)
        return replace(data, test=replace(data.test, verification=pairs), notes=notes)

    def _split_closed(self, everything: Split, known: Named, seed: int) -> tuple[Data, list[str]]:
        if known.pairs is None:
            self._need_images(everything, 3)
            kept, held = hold_out(everything.labels, self.test_share, self.name, seed, "test")
        else:
            tested = torch.tensor([path in known.images for path in known.paths])
            kept, held = torch.nonzero(~tested).flatten(), torch.nonzero(tested).flatten()
        train, test = everything.take(kept), everything.take(held)
        data = closed_split(self.name, train, test, self.val_share, seed)
        return data, [known.paths[place] for place in held.tolist()]

    def _need_images(self, everything: Split, needed: int) -> None:
        few = [everything.names[n] for n in np.flatnonzero(everything.class_counts.numpy() < needed)]
        if few:
            raise InputError(
                f"folder: protocol='closed' needs {needed} images per class (to train, validate and test on); "
                f"{len(few)} of {len(everything.names)} classes have fewer: {shorten(few)}; "
                f"min_per_class={needed} leaves them out"
            )

    def _split_open(self, everything: Split, known: Named, seed: int) -> tuple[Data, list[str]]:
        draws = Draws("identities", seed)
        counts = everything.class_counts.numpy()
        order = draws.permutation(len(everything.names))
        several = [label for label in order.tolist() if counts[label] >= 2]
        test = several[: self._count(self.test_share, len(order))]
        if known.pairs is not None:
            test = [label for label, name in enumerate(everything.names) if name in known.classes]
        tested = set(test)
        val = [label for label in several if label not in tested][: self._count(self.val_share, len(order))]
        train = sorted(set(order.tolist()) - tested - set(val))
        self._need_identities(everything, test=len(test), val=len(val), train=len(train), given=known.pairs is not None)
        parts = {"train": np.array(train), "val": np.array(sorted(val)), "test": np.array(sorted(test))}
        chosen = np.flatnonzero(np.isin(everything.labels.numpy(), test))
        return open_split(self.name, everything, parts, seed), [known.paths[place] for place in chosen]

    def _count(self, share: float, total: int) -> int:
        """Checks the number of identities: two make a pair; four make two folds."""
        return max(round(share * total), 4 if total >= 12 else 2)

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
