"""The letters of `glyphs` as a closed set: new images of the letters that were trained on."""

import numpy as np

from datasets._cache import Arrays
from datasets._data import Data
from datasets._draws import Draws
from datasets._glyph_drawing import draw_letter_images
from datasets._letters import Alphabet, read_alphabet
from datasets._options import Whole
from datasets._place import Place
from datasets._splits import data_with_pairs
from datasets.glyphs import Glyphs, letter_split


class GlyphsClosed(Glyphs):
    name = "glyphs_closed"
    summary = "letters drawn from twelve typefaces, varied in shape and stroke; closed; needs no download"
    protocol = "closed"
    example = {"classes": 60, "eval_per_class": 5}

    classes = Whole(200, "letters, no two of which look alike in any typeface", low=2, high=600)

    def build(self, place: Place, seed: int) -> Data:
        letters = choose_letters(read_alphabet(), self.classes, seed)
        images = self._kept(place, seed)["images"].reshape(len(letters), -1, self.size, self.size)
        parts = np.split(images, [self.per_class, self.per_class + self.eval_per_class], axis=1)
        train, val, test = (letter_split(letters, part.reshape(-1, self.size, self.size)) for part in parts)
        return data_with_pairs(self.name, "closed", train, val, test, seed)

    def _draw(self, seed: int) -> Arrays:
        alphabet = read_alphabet()
        letters = choose_letters(alphabet, self.classes, seed)
        draws = [Draws("closed glyph", seed, letter) for letter in letters]
        outlines = [alphabet.outlines[letter] for letter in letters]
        count = self.per_class + 2 * self.eval_per_class
        return {"images": draw_letter_images(outlines, draws, count, self.size)}


def choose_letters(alphabet: Alphabet, classes: int, seed: int) -> list[int]:
    """One letter of each family, so that no two look alike; fewer classes are a prefix of more classes."""
    order = Draws("closed letters", seed).permutation(len(alphabet.families))
    return [alphabet.families[n][0] for n in order[:classes]]
