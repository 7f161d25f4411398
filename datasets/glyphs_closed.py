"""The letters of `glyphs` as a closed set: new images of the letters that were trained on."""

from __future__ import annotations

import unicodedata

import numpy as np
import torch
from numpy.typing import NDArray

from datasets._cache import Arrays, cached
from datasets._data import Data, Split
from datasets._dataset import Dataset, Size
from datasets._draws import Draws
from datasets._glyph_drawing import draw_letter_images
from datasets._letters import Alphabet, read_alphabet
from datasets._options import Whole
from datasets._outlines import fonts_checksum
from datasets._place import Place
from datasets._splits import with_pairs

VERSION = 1  # of the drawing: a change of it makes other images, and other cache files


class GlyphsClosed(Dataset):
    name = "glyphs_closed"
    summary = "letters of twelve typefaces, varied in shape and stroke; closed, drawn once and kept"
    example = {"classes": 60, "eval_per_class": 5}

    classes = Whole(200, "letters, none of them alike in any typeface", low=2, high=600)
    per_class = Whole(20, "training images of a letter", low=2, high=1000)
    eval_per_class = Whole(20, "validation and test images of a letter", low=2, high=1000)
    size = Whole(28, "height and width in pixels", low=16, high=128)

    def training_size(self) -> Size:
        return Size(self.classes, self.per_class, self.size**2)

    def build(self, place: Place, seed: int) -> Data:
        letters = choose_letters(read_alphabet(), self.classes, seed)
        fonts = fonts_checksum()[:12]
        counts = f"{self.classes}x{self.per_class}x{self.eval_per_class}"
        file = f"glyphs_closed-v{VERSION}-{fonts}-{counts}-{self.size}px-seed{seed}"
        images = cached(place.cache / f"{file}.safetensors", lambda: self._draw(letters, seed))["images"]
        sizes = {"train": self.per_class, "val": self.eval_per_class, "test": self.eval_per_class}
        parts = np.split(np.arange(sum(sizes.values())), np.cumsum(list(sizes.values()))[:-1])
        by_letter = images.reshape(len(letters), -1, self.size, self.size)
        train, val, test = (_split(letters, by_letter[:, part]) for part in parts)
        return Data(
            self.name,
            "closed",
            train=train,
            val=with_pairs(val, self.name, seed, "val", protocol="closed"),
            test=with_pairs(test, self.name, seed, "test", protocol="closed"),
        )

    def _draw(self, letters: list[int], seed: int) -> Arrays:
        alphabet = read_alphabet()
        draws = [Draws("closed glyph", seed, letter) for letter in letters]
        outlines = [alphabet.outlines[letter] for letter in letters]
        count = self.per_class + 2 * self.eval_per_class
        return {"images": draw_letter_images(outlines, draws, count, self.size)}


def choose_letters(alphabet: Alphabet, classes: int, seed: int) -> list[int]:
    """One letter of each family, so that no two are drawn alike; fewer classes are the first of more."""
    order = Draws("closed letters", seed).permutation(len(alphabet.families))
    return [alphabet.families[n][0] for n in order[:classes]]


def _split(letters: list[int], images: NDArray[np.uint8]) -> Split:
    """`images` is letters × images of each × height × width."""
    labels = torch.arange(len(letters)).repeat_interleave(images.shape[1])
    names = tuple(f"U+{letter:04X} {unicodedata.name(chr(letter), '?')}" for letter in letters)
    return Split(torch.from_numpy(images.reshape(-1, 1, *images.shape[2:])), labels, names)
