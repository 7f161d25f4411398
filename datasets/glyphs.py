"""Letters as identities, drawn from the fonts that matplotlib ships."""

import unicodedata
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from datasets._cache import Arrays, cached
from datasets._data import Data, Split
from datasets._dataset import Dataset, Size
from datasets._draws import Draws
from datasets._glyph_drawing import draw_letter_images, fonts_checksum
from datasets._letters import Alphabet, read_alphabet
from datasets._options import Whole
from datasets._place import Place
from datasets._splits import data_with_pairs

TEST_CLASSES, VAL_CLASSES, MOST_TRAIN_CLASSES = 250, 150, 1000
VERSION = 1  # of the drawing; raise it when images change, so that cache files are made again


class Glyphs(Dataset):
    name = "glyphs"
    summary = "letters drawn from twelve typefaces, varied in shape and stroke; open; needs no download"
    examples_may_be_shown = True
    protocol = "open"
    example = {"classes": 47, "per_class": 5}

    classes = Whole(300, "letters to train on", low=2, high=MOST_TRAIN_CLASSES)
    per_class = Whole(20, "training images of a letter", low=2, high=1000)
    eval_per_class = Whole(20, "validation and test images of a letter", low=2, high=1000)
    size = Whole(28, "height and width in pixels", low=16, high=128)

    def training_size(self) -> Size:
        return Size(self.classes, self.per_class, self.size**2)

    def build(self, place: Place, seed: int) -> Data:
        arrays = self._kept(place, seed)
        parts = ((arrays[f"{part}.letters"].tolist(), arrays[f"{part}.images"]) for part in ("train", "val", "test"))
        train, val, test = (letter_split(letters, images) for letters, images in parts)
        return data_with_pairs(self.name, "open", train, val, test, seed)

    def _kept(self, place: Place, seed: int) -> Arrays:
        """What `_draw` makes, from the cache if fonts, options and seed are the same."""
        counts = f"{self.classes}x{self.per_class}x{self.eval_per_class}"
        file = f"{self.name}-v{VERSION}-{fonts_checksum()[:12]}-{counts}-{self.size}px-seed{seed}"
        return cached(place.cache / f"{file}.safetensors", lambda: self._draw(seed))

    def _draw(self, seed: int) -> Arrays:
        alphabet = read_alphabet()
        arrays: Arrays = {}
        for part, letters in split_letters(alphabet, self.classes, seed).items():
            count = self.per_class if part == "train" else self.eval_per_class
            draws = [Draws("glyph", seed, letter) for letter in letters]
            outlines = [alphabet.outlines[letter] for letter in letters]
            arrays[f"{part}.images"] = draw_letter_images(outlines, draws, count, self.size)
            arrays[f"{part}.letters"] = np.array(letters, dtype=np.int64)
        return arrays


def split_letters(alphabet: Alphabet, classes: int, seed: int) -> dict[str, list[int]]:
    """Assigns whole families to test and validation until these are full; the rest is for training.

    Test and validation do not depend on `classes`; fewer classes are a prefix of more classes.
    """
    draws = Draws("letters", seed)
    waiting = [alphabet.families[n] for n in draws.permutation(len(alphabet.families))]
    parts: dict[str, list[int]] = {}
    for part, room in (("test", TEST_CLASSES), ("val", VAL_CLASSES)):
        parts[part], left = [], []
        for family in waiting:
            if len(parts[part]) + len(family) <= room:
                parts[part] += family
            else:
                left.append(family)
        waiting = left
    parts["train"] = [letter for family in waiting for letter in family][:classes]
    return parts


def letter_split(letters: Sequence[int], images: NDArray[np.uint8]) -> Split:
    """`images` (N×height×width) has the same number for each letter, letter by letter."""
    labels = torch.arange(len(letters)).repeat_interleave(len(images) // len(letters))
    names = tuple(f"U+{letter:04X} {unicodedata.name(chr(letter), '?')}" for letter in letters)
    return Split(torch.from_numpy(images)[:, None], labels, names)
