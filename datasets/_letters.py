"""Which letters are one identity, and which are so similar that they must stay in one split."""

import unicodedata
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

from datasets._glyph_drawing import Outline, draw_plainly, read_outlines

COARSE = 16  # pixels: the smallest size that glyphs come in


@dataclass(frozen=True)
class Alphabet:
    """Outlines of each letter in each face. `families`: letters that must stay in one split."""

    letters: tuple[int, ...]
    outlines: dict[int, tuple[Outline, ...]]
    families: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=1)
def read_alphabet() -> Alphabet:
    drawn = read_outlines()
    letters = _one_of_each_shape(drawn)
    return Alphabet(tuple(letters), {code: drawn[code] for code in letters}, _families(drawn, letters))


def _one_of_each_shape(drawn: dict[int, tuple[Outline, ...]]) -> list[int]:
    """One letter of each group that every face draws alike, at any height on the line."""
    first: dict[tuple[bytes, ...], int] = {}
    for code, outlines in drawn.items():
        first.setdefault(tuple(outline.key for outline in outlines), code)
    return sorted(first.values())


def _families(drawn: dict[int, tuple[Outline, ...]], letters: list[int]) -> tuple[tuple[int, ...], ...]:
    """Groups letters that any face draws alike, both cases of a letter, and its raised and lowered forms."""
    parent = {code: code for code in drawn}

    def top(code: int) -> int:
        while parent[code] != code:
            code = parent[code]
        return code

    alike: dict[Hashable, int] = {}
    for code, faces in drawn.items():
        # Outlines that hardly differ count as alike: pixels are compared at the smallest size.
        for image in draw_plainly(faces, COARSE):
            parent[top(code)] = top(alike.setdefault(image.tobytes(), code))
        for spelling in _spellings(chr(code)):
            parent[top(code)] = top(alike.setdefault(spelling, code))
    families: dict[int, list[int]] = defaultdict(list)
    for code in letters:
        families[top(code)].append(code)
    return tuple(sorted(tuple(family) for family in families.values()))


def _spellings(letter: str) -> set[str]:
    """The letter without case, neither raised nor lowered."""
    return {unicodedata.normalize("NFKC", case).casefold() for case in (letter, letter.upper())}
