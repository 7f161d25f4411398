"""Outlines of the letters in matplotlib's DejaVu fonts, variations of a letter (another face, an affine change and
another stroke each time) and their pixels: all in whole numbers, so that the bytes are the same on every machine."""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from datasets._draws import Draws, Whole
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


FINE = 4  # sub-pixels to a pixel, across and down
SUB = 64  # steps to a sub-pixel
STEPS_PER_PIXEL = FINE * SUB

Mask = NDArray[np.bool_]


def rasterise(starts: Sequence[Whole], ends: Sequence[Whole], strokes: Whole, size: int) -> NDArray[np.uint8]:
    """One image an outline, N×size×size; ink is 255.

    Edges are in steps from the upper left corner; `strokes` (N×2) is by how many sub-pixels the shape is made
    thicker on each side, across and down (negative: thinner).
    """
    mask = _with_strokes(_inside(starts, ends, size * FINE), strokes)
    cells = mask.reshape(len(mask), size, FINE, size, FINE)
    ink: Whole = cells.sum(axis=(2, 4), dtype=np.int64)
    return (ink * 255 // FINE**2).astype(np.uint8)


def _inside(starts: Sequence[Whole], ends: Sequence[Whole], fine: int) -> Mask:
    """The sub-pixels whose centre the contours wind round."""
    image = np.repeat(np.arange(len(starts)), [len(edges) for edges in starts])
    start, end = np.concatenate(starts), np.concatenate(ends)
    down = end[:, 1] > start[:, 1]
    upper = np.where(down[:, None], start, end)
    lower = np.where(down[:, None], end, start)
    # Rows whose centre line (row + ½) an edge crosses; the upper end belongs to the edge, the lower does not.
    first = np.clip(_first_centre(upper[:, 1]), 0, fine)
    count = np.clip(_first_centre(lower[:, 1]), 0, fine) - first
    edge = np.repeat(np.arange(len(count)), count)
    row = first[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)
    rise = row * SUB + SUB // 2 - upper[edge, 1]
    x = upper[edge, 0] + (lower[edge, 0] - upper[edge, 0]) * rise // (lower[edge, 1] - upper[edge, 1])
    column = np.clip(_first_centre(x), 0, fine)
    turns = np.zeros((len(starts), fine, fine + 1), dtype=np.int8)
    np.add.at(turns, (image[edge], row, column), np.where(down[edge], 1, -1).astype(np.int8))
    winding: NDArray[np.int8] = np.cumsum(turns[:, :, :fine], axis=2, dtype=np.int8)
    inside: Mask = winding != 0
    return inside


def _first_centre(steps: Whole) -> Whole:
    """The first sub-pixel whose centre is at or behind the place."""
    return -((SUB // 2 - steps) // SUB)


def _with_strokes(mask: Mask, strokes: Whole) -> Mask:
    changed = mask.copy()
    for axis in (0, 1):
        for amount in np.unique(strokes[:, axis]):
            chosen = strokes[:, axis] == amount
            changed[chosen] = _thicken(changed[chosen], int(amount), axis=2 - axis)
    # A letter that is all hairlines would vanish: it stays as it was.
    vanishing = 2 * changed.sum(axis=(1, 2)) < mask.sum(axis=(1, 2))
    changed[vanishing] = mask[vanishing]
    return changed


def _thicken(mask: Mask, amount: int, axis: int) -> Mask:
    if amount < 0:
        return ~_thicken(~mask, -amount, axis)
    grown = mask.copy()
    low, high = [slice(None)] * 3, [slice(None)] * 3
    for shift in range(1, amount + 1):
        low[axis], high[axis] = slice(None, -shift), slice(shift, None)
        grown[tuple(high)] |= mask[tuple(low)]
        grown[tuple(low)] |= mask[tuple(high)]
    return grown


ONE = 1 << 16  # 1.0 of the affine matrices
EM = UNITS_PER_EM * SCALE
AT_ONCE = 512  # images drawn together: bounds the memory


def draw_letter_images(
    letters: Sequence[tuple[Outline, ...]], draws: Sequence[Draws], count: int, size: int
) -> NDArray[np.uint8]:
    """`count` images of each letter in turn, N×size×size."""
    images = np.empty((len(letters) * count, size, size), dtype=np.uint8)
    waiting: list[tuple[Whole, Whole, Whole]] = []
    done = 0
    for faces, letter_draws in zip(letters, draws, strict=True):
        waiting += _variations(faces, letter_draws, count, size)
        while len(waiting) >= AT_ONCE or (waiting and done + len(waiting) == len(images)):
            batch, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
            starts, ends, strokes = zip(*batch, strict=True)
            images[done : done + len(batch)] = rasterise(starts, ends, np.stack(strokes), size)
            done += len(batch)
    return images


def draw_plainly(faces: tuple[Outline, ...], size: int) -> NDArray[np.uint8]:
    """The letter as each face has it, upright and in the middle."""
    middle = np.zeros(2, dtype=np.int64)
    upright = np.array([[ONE, 0], [0, ONE]])
    em = 72 * size * STEPS_PER_PIXEL // 100
    starts, ends = zip(*(place_in_frame(face, upright, em, middle, size) for face in faces), strict=True)
    return rasterise(starts, ends, np.zeros((len(faces), 2), dtype=np.int64), size)


def _variations(faces: tuple[Outline, ...], draws: Draws, count: int, size: int) -> list[tuple[Whole, Whole, Whole]]:
    which = draws.below(len(faces), count)
    matrices = _matrices(draws, count)
    em = draws.between(60, 84, count) * size * STEPS_PER_PIXEL // 100
    jitter = draws.between(-64, 64, 2 * count).reshape(count, 2)
    strokes = draws.between(-1, 2, 2 * count).reshape(count, 2)
    varied = []
    for n in range(count):
        outline = faces[int(which[n])]
        varied.append((*place_in_frame(outline, matrices[n], int(em[n]), jitter[n], size), strokes[n]))
    return varied


def _matrices(draws: Draws, count: int) -> Whole:
    """Rotation by up to ±20°, then shear and a change of aspect; count×2×2, 1.0 is ONE."""
    # tan(half the angle) = k / 1024 gives sine and cosine as fractions of whole numbers.
    k = draws.between(-180, 180, count)
    cos = (1024**2 - k * k) * ONE // (1024**2 + k * k)
    sin = 2 * 1024 * k * ONE // (1024**2 + k * k)
    shear = draws.between(-ONE // 4, ONE // 4, count)
    across = draws.between(ONE * 3 // 4, ONE, count)
    return np.stack(
        [
            np.stack([cos * across // ONE, (cos * shear // ONE - sin)], axis=1),
            np.stack([sin * across // ONE, (sin * shear // ONE + cos)], axis=1),
        ],
        axis=1,
    )


def place_in_frame(outline: Outline, matrix: Whole, em: int, jitter: Whole, size: int) -> tuple[Whole, Whole]:
    """Edges in steps: shrunk where they would not fit, a pixel from the border, off the centre by `jitter`/64
    of the room there is, at most an eighth of the frame."""
    starts, ends = (_turn(points, matrix) for points in (outline.starts, outline.ends))
    corner = np.minimum(starts.min(axis=0), ends.min(axis=0))
    extent = np.maximum(starts.max(axis=0), ends.max(axis=0)) - corner
    room = (size - 2) * STEPS_PER_PIXEL
    em = min(em, room * EM // max(int(extent.max()), 1))
    slack = room - extent * em // EM
    reach = np.minimum(slack // 2, size * STEPS_PER_PIXEL // 8)
    offset = STEPS_PER_PIXEL + slack // 2 + reach * jitter // 64
    return ((starts - corner) * em // EM + offset, (ends - corner) * em // EM + offset)


def _turn(points: Whole, matrix: Whole) -> Whole:
    x, y = points[:, 0], points[:, 1]
    across = matrix[0, 0] * x + matrix[0, 1] * y
    up = matrix[1, 0] * x + matrix[1, 1] * y
    return np.stack([across // ONE, -up // ONE], axis=1)  # rows count downwards
