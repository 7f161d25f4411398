"""Closed glyphs: new images of the letters that were trained on, no two of which are drawn alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets._glyph_drawing import draw_plainly
from datasets._letters import read_alphabet
from datasets.glyphs_closed import GlyphsClosed, choose_letters

SMALL = {"classes": 12, "per_class": 5, "eval_per_class": 4, "size": 20}
DIGEST = "094b40f9fd133bcacb51974255daccceb3913ee00da023fcabb80168eaa44946"


def test_sizes_and_bytes(cache: Path) -> None:
    data = datasets.load("glyphs_closed", cache, cache=cache, **SMALL)
    assert data.digest == DIGEST, "the closed glyphs are other bytes than they were everywhere"
    assert data.protocol == "closed"
    assert data.image_shape == (1, 20, 20)
    assert data.class_counts.tolist() == [5] * 12
    assert data.val.class_counts.tolist() == data.test.class_counts.tolist() == [4] * 12
    assert data.train.names == data.val.names == data.test.names
    assert datasets.load("glyphs_closed", cache, cache=cache, seed=1, **SMALL).digest != data.digest


def test_no_image_is_in_two_splits(cache: Path) -> None:
    data = datasets.load("glyphs_closed", cache, cache=cache, **SMALL)
    images = np.concatenate([split.images.numpy() for split in (data.train, data.val, data.test)])
    assert len({image.tobytes() for image in images}) == len(images) == 12 * (5 + 4 + 4)


@pytest.mark.parametrize("seed", [0, 1])
def test_letters_are_apart_in_every_face(seed: int) -> None:
    alphabet = read_alphabet()
    most = GlyphsClosed.classes.high
    letters = choose_letters(alphabet, int(most), seed)
    assert len(set(letters)) == most
    plain = [{image.tobytes() for image in draw_plainly(alphabet.outlines[letter], 28)} for letter in letters]
    assert sum(map(len, plain)) == len(set().union(*plain))
    assert choose_letters(alphabet, 47, seed) == letters[:47]
