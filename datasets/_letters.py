"""The letters of matplotlib's DejaVu fonts: outlines, which of them are one shape, which belong together."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from datasets._draws import Whole

UNITS_PER_EM = 2048
LINE_TO, CURVE, CLOSE = 2, 3, 79  # matplotlib's path codes
STEPS = 4  # straight pieces to a curve
SCALE = STEPS * STEPS  # outlines are in font units × SCALE: the ends of a curve's pieces are then whole numbers


@dataclass(frozen=True)
class Outline:
    """Edges of closed contours (E×2 starts and ends), the box of the shape at the origin's upper right."""

    starts: Whole
    ends: Whole

    @property
    def key(self) -> bytes:
        return self.starts.tobytes() + b"/" + self.ends.tobytes()


@dataclass(frozen=True)
class Alphabet:
    """Outlines of each letter in each face. `families`: letters that must not be torn apart by a split."""

    letters: tuple[int, ...]
    outlines: dict[int, tuple[Outline, ...]]
    families: tuple[tuple[int, ...], ...]


def font_files() -> list[Path]:
    """The twelve DejaVu text faces."""
    from matplotlib import get_data_path

    folder = Path(get_data_path()) / "fonts" / "ttf"
    files = sorted(file for file in folder.glob("DejaVu*.ttf") if "Display" not in file.name)
    if len(files) != 12:
        raise FileNotFoundError(
            f"glyphs are drawn from the twelve DejaVu text faces that matplotlib ships; {folder} holds "
            f"{len(files)}. Reinstall matplotlib"
        )
    return files


def fonts_checksum() -> str:
    total = hashlib.sha256()
    for file in font_files():
        total.update(file.read_bytes())
    return total.hexdigest()


def read_alphabet() -> Alphabet:
    from matplotlib.ft2font import FT2Font

    fonts = [FT2Font(str(file)) for file in font_files()]
    common = set.intersection(*(set(map(int, font.get_charmap())) for font in fonts))
    shared = sorted(code for code in common if unicodedata.category(chr(code)).startswith("L"))
    drawn = {code: tuple(_outline(font, code) for font in fonts) for code in shared}
    letters = _one_of_each_shape(drawn)
    return Alphabet(tuple(letters), {code: drawn[code] for code in letters}, _families(drawn, letters))


def _outline(font: object, code: int) -> Outline:
    from matplotlib.ft2font import FT2Font, LoadFlags

    face = cast(FT2Font, font)
    face.load_char(code, flags=LoadFlags.NO_SCALE)
    vertices, codes = face.get_path()
    points = np.rint(vertices * 64 * SCALE).astype(np.int64)  # FreeType counts in 64ths
    starts, ends = _edges(points, codes)
    corner = np.minimum(starts.min(axis=0), ends.min(axis=0))
    return Outline(starts - corner, ends - corner)


def _edges(points: Whole, codes: NDArray[np.uint8]) -> tuple[Whole, Whole]:
    pieces: list[Whole] = []
    first = here = points[0]
    index = 0
    while index < len(codes):
        if codes[index] == CURVE:
            there = points[index + 1]
            stops = _curve(here, points[index], there)
            pieces.append(np.stack([np.vstack([here, stops[:-1]]), stops], axis=1))
            here, index = there, index + 2
            continue
        if codes[index] in (LINE_TO, CLOSE):
            there = first if codes[index] == CLOSE else points[index]
            pieces.append(np.stack([here, there])[None])
            here = there
        else:
            first = here = points[index]
        index += 1
    edges = np.concatenate(pieces)
    return edges[:, 0], edges[:, 1]


def _curve(start: Whole, control: Whole, end: Whole) -> Whole:
    """The ends of the pieces of a quadratic curve, exact in whole numbers."""
    t = np.arange(1, STEPS + 1)[:, None]
    s = STEPS - t
    return cast(Whole, (s * s * start + 2 * s * t * control + t * t * end) // SCALE)


def _one_of_each_shape(drawn: dict[int, tuple[Outline, ...]]) -> list[int]:
    """The first of those letters that every face draws alike, wherever on the line."""
    first: dict[tuple[bytes, ...], int] = {}
    for code, outlines in drawn.items():
        first.setdefault(tuple(outline.key for outline in outlines), code)
    return sorted(first.values())


def _families(drawn: dict[int, tuple[Outline, ...]], letters: list[int]) -> tuple[tuple[int, ...], ...]:
    """Joined: letters that any two faces draw alike, cases of a letter, raised and lowered forms of a letter."""
    parent = {code: code for code in drawn}

    def top(code: int) -> int:
        while parent[code] != code:
            code = parent[code]
        return code

    alike: dict[Hashable, int] = {}
    for code, outlines in drawn.items():
        for outline in outlines:
            parent[top(code)] = top(alike.setdefault(outline.key, code))
        for relative in _relatives(code):
            if relative in parent:
                parent[top(code)] = top(relative)
    families: dict[int, list[int]] = defaultdict(list)
    for code in letters:
        families[top(code)].append(code)
    return tuple(sorted(tuple(family) for family in families.values()))


def _relatives(code: int) -> Iterable[int]:
    letter = chr(code)
    for other in (letter.lower(), letter.upper(), letter.title(), letter.casefold()):
        if len(other) == 1:
            yield ord(other)
    tag, *rest = unicodedata.decomposition(letter).split() or [""]
    if tag.startswith("<") and len(rest) == 1:  # such as "<super> 0068"
        yield int(rest[0], 16)
