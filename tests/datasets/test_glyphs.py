"""Glyphs: the same bytes everywhere, letters that are apart, images that are whole."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import torch

import datasets
from datasets import Data
from datasets._glyph_drawing import draw_plainly
from datasets._letters import Alphabet, read_alphabet
from datasets.glyphs import split_letters

DEFAULT_DIGEST = "48c5b8d2682b8f6829fbe0c26fa785e13dd375d86b13cbd8097c3978e41a370a"
SMALL = {"classes": 12, "per_class": 3, "eval_per_class": 4}
LOAD_SMALL = f"import datasets, sys; print(datasets.load('glyphs', sys.argv[1], **{SMALL}).digest)"


@pytest.fixture(scope="module")
def alphabet() -> Alphabet:
    return read_alphabet()


def test_default_digest(glyphs: Data) -> None:
    assert glyphs.digest == DEFAULT_DIGEST, "the default glyphs are other bytes than they were everywhere"


def test_default_sizes(glyphs: Data) -> None:
    assert [len(split) for split in (glyphs.train, glyphs.val, glyphs.test)] == [6000, 3000, 5000]
    assert [len(split.names) for split in (glyphs.train, glyphs.val, glyphs.test)] == [300, 150, 250]
    assert glyphs.image_shape == (1, 28, 28)
    for split in (glyphs.val, glyphs.test):
        assert split.same.sum() == (~split.same).sum() == 10_000


def test_letters(alphabet: Alphabet) -> None:
    assert len(alphabet.letters) >= 1400
    assert sorted(letter for family in alphabet.families for letter in family) == list(alphabet.letters)


def test_families_hold_what_belongs_together(alphabet: Alphabet) -> None:
    family_of = {letter: number for number, family in enumerate(alphabet.families) for letter in family}

    def family(letter: str) -> int | None:
        return family_of.get(ord(letter))

    assert family("A") == family("a") == family("α")  # capital alpha is drawn as capital A
    assert family("ж") == family("Ж")
    assert family("h") == family("ʰ")
    assert family("Ï") == family("Ϊ")
    assert family("B") != family("Q")


def test_no_test_letter_equals_a_training_letter_in_pixels(glyphs: Data, alphabet: Alphabet) -> None:
    """Drawn plainly in every face, and as the images that are trained and tested on."""
    parts = split_letters(alphabet, 1000, seed=0)
    plain = [
        {image.tobytes() for letter in letters for image in draw_plainly(alphabet.outlines[letter], 28)}
        for letters in parts.values()
    ]
    are_apart(*plain)
    are_apart(*({image.tobytes() for image in split.images.numpy()} for split in splits(glyphs)))


@pytest.mark.parametrize("seed", range(5))
def test_case_never_crosses_a_split(alphabet: Alphabet, seed: int) -> None:
    parts = split_letters(alphabet, 1000, seed)
    assert {part: len(letters) for part, letters in parts.items()} == {"test": 250, "val": 150, "train": 1000}
    folded = [{chr(letter).casefold() for letter in letters} for letters in parts.values()]
    are_apart(*folded)
    plain = [{unicodedata.normalize("NFKC", chr(letter)) for letter in part} for part in parts.values()]
    are_apart(*plain)


def test_fewer_classes_are_the_first_of_more(alphabet: Alphabet) -> None:
    few, many = split_letters(alphabet, 47, seed=0), split_letters(alphabet, 1000, seed=0)
    assert few["train"] == many["train"][:47]
    assert (few["test"], few["val"]) == (many["test"], many["val"])


def test_images_are_whole_and_varied(glyphs: Data) -> None:
    for split in splits(glyphs):
        images = split.images[:, 0]
        assert images.amax(dim=(1, 2)).min() > 100, "a blank or very faint image"
        border = torch.cat([images[:, 0], images[:, -1], images[:, :, 0], images[:, :, -1]], dim=1)
        assert (border.amax(dim=1) > 200).float().mean() < 0.02, "letters run into the border"
        assert len({image.numpy().tobytes() for image in images}) > 0.999 * len(images)


def test_size_and_counts_are_options(cache: Path) -> None:
    data = datasets.load("glyphs", cache, cache=cache, size=20, **SMALL)
    assert data.image_shape == (1, 20, 20)
    assert data.class_counts.tolist() == [3] * 12


def test_same_bytes_from_another_process_and_from_the_cache(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOAD_SMALL, str(tmp_path / "other")]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    drawn = datasets.load("glyphs", tmp_path, **SMALL).digest
    kept = datasets.load("glyphs", tmp_path, **SMALL).digest
    assert drawn == kept == other


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    before = datasets.load("glyphs", tmp_path, **SMALL).digest
    (kept,) = (tmp_path / ".cache").iterdir()
    content = bytearray(kept.read_bytes())
    content[-1000] ^= 1
    kept.write_bytes(content)
    with pytest.warns(RuntimeWarning, match="damaged"):
        again = datasets.load("glyphs", tmp_path, **SMALL)
    assert again.digest == before


def splits(data: Data) -> tuple[datasets.Split, ...]:
    return data.train, data.val, data.test


def are_apart(*sets: set[bytes] | set[str]) -> None:
    assert sum(map(len, sets)) == len(set().union(*sets))


def test_outlines_are_drawn_right() -> None:
    """A square with a hole, each edge on a pixel's border."""
    from datasets._glyph_drawing import STEPS_PER_PIXEL, rasterise

    outer = np.array([[1, 1], [7, 1], [7, 7], [1, 7]]) * STEPS_PER_PIXEL
    inner = np.array([[3, 3], [3, 5], [5, 5], [5, 3]]) * STEPS_PER_PIXEL
    starts = np.concatenate([outer, inner])
    ends = np.concatenate([np.roll(outer, -1, axis=0), np.roll(inner, -1, axis=0)])
    expected = np.zeros((8, 8), dtype=np.uint8)
    expected[1:7, 1:7] = 255
    expected[3:5, 3:5] = 0
    (image,) = rasterise([starts], [ends], np.zeros((1, 2), dtype=np.int64), 8)
    assert np.array_equal(image, expected)
    (thick,) = rasterise([starts], [ends], np.full((1, 2), 4), 8)
    assert (thick == 255).all()
