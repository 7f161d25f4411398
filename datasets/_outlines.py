"""Outlines of the letters in matplotlib's DejaVu fonts, as whole numbers."""

import hashlib
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from datasets._draws import Whole
from datasets._errors import MissingDataError

UNITS_PER_EM = 2048
MOVE_TO, LINE_TO, CURVE, CLOSE = 1, 2, 3, 79  # matplotlib's path codes
STEPS = 4  # straight pieces to a curve
SCALE = STEPS * STEPS  # outlines are in font units × SCALE, so that curves break at whole numbers


@dataclass(frozen=True)
class Outline:
    """Edges of closed contours (E×2 starts and ends), the box of the shape at the origin's upper right."""

    starts: Whole
    ends: Whole

    @property
    def key(self) -> bytes:
        return self.starts.tobytes() + b"/" + self.ends.tobytes()


def font_files() -> list[Path]:
    """The twelve DejaVu text faces."""
    from matplotlib import get_data_path

    folder = Path(get_data_path()) / "fonts" / "ttf"
    files = sorted(file for file in folder.glob("DejaVu*.ttf") if "Display" not in file.name)
    if len(files) != 12:
        raise MissingDataError(
            f"glyphs are drawn from the twelve DejaVu text faces that matplotlib ships; {folder} holds "
            f"{len(files)}. Reinstall matplotlib"
        )
    return files


def fonts_checksum() -> str:
    total = hashlib.sha256()
    for file in font_files():
        total.update(file.read_bytes())
    return total.hexdigest()


def read_outlines() -> dict[int, tuple[Outline, ...]]:
    """The letters that all faces have, by code point, each with its outline in each face."""
    from matplotlib.ft2font import FT2Font

    fonts = [FT2Font(str(file)) for file in font_files()]
    common = set.intersection(*(set(map(int, font.get_charmap())) for font in fonts))
    letters = sorted(code for code in common if unicodedata.category(chr(code)).startswith("L"))
    return {code: tuple(_outline(font, code) for font in fonts) for code in letters}


def _outline(font: object, code: int) -> Outline:
    from matplotlib.ft2font import FT2Font, LoadFlags

    face = cast(FT2Font, font)
    face.load_char(code, flags=LoadFlags.NO_SCALE)
    vertices, codes = face.get_path()
    points = np.rint(vertices * (64 * SCALE)).astype(np.int64)  # FreeType counts in 64ths
    starts, ends = _edges(points, codes)
    corner = np.minimum(starts.min(axis=0), ends.min(axis=0))
    return Outline(starts - corner, ends - corner)


def _edges(points: Whole, codes: NDArray[np.int8]) -> tuple[Whole, Whole]:
    """Starts and ends of the straight pieces, those of lines before those of curves."""
    before = np.roll(points, 1, axis=0)
    lines = np.flatnonzero(codes == LINE_TO)
    closes = np.flatnonzero(codes == CLOSE)
    moves = np.flatnonzero(codes == MOVE_TO)
    opening = moves[np.searchsorted(moves, closes) - 1]
    controls = np.flatnonzero(codes == CURVE)[::2]  # a curve has two rows: its control point and its end
    stops = _curves(before[controls], points[controls], points[controls + 1])
    starts = [before[lines], before[closes], stops[:-1].reshape(-1, 2)]
    ends = [points[lines], points[opening], stops[1:].reshape(-1, 2)]
    return np.concatenate(starts), np.concatenate(ends)


def _curves(start: Whole, control: Whole, end: Whole) -> Whole:
    """Where the pieces of quadratic curves begin and end, exact in whole numbers; (STEPS+1)×N×2."""
    t = np.arange(STEPS + 1)[:, None, None]
    s = STEPS - t
    stops: Whole = (s * s * start + 2 * s * t * control + t * t * end) // SCALE
    return stops
