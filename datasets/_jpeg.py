"""Encoded images to pixels: JPEG by the fastest decoder at hand, everything else by Pillow."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps

from datasets._errors import InputError
from datasets._torchvision import ensure_torchvision

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
MOST_PIXELS = 50_000_000
JPEG = b"\xff\xd8\xff"
EXIF = b"Exif\0\0"

Pixels = NDArray[np.uint8]
Decode = Callable[[bytes, Pixels | None], Pixels | None]


@dataclass(frozen=True)
class Decoder:
    """`decode` gives H×W×1 for a grey JPEG, H×W×3 (RGB) for a colour one, None for what only Pillow can judge.

    It may write into the array that it gets, if an image has just that shape.
    """

    name: str
    version: str
    equal: bool
    decode: Decode

    @property
    def mark(self) -> str:
        """Part of the digest of pixels; empty if they are those of Pillow, bit by bit."""
        return "" if self.equal else f"{self.name} {self.version}"

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({'' if self.equal else 'not '}bit-equal to Pillow)"


@lru_cache(maxsize=1)
def decoder() -> Decoder:
    """The fastest that works here. A self-check at the first call compares it with Pillow."""
    for name, make in (("simplejpeg", _simplejpeg), ("torchvision", _torchvision)):
        try:
            decode = make()
            equal = all(_equal(decode(content, None), content) for content in _samples())
        except Exception:  # whatever keeps it from working here, the next one may work
            continue
        return Decoder(name, version(name), equal, decode)
    return Decoder("Pillow", version("pillow"), True, lambda content, out: None)


def _simplejpeg() -> Decode:
    import simplejpeg

    spaces = {"Gray": "GRAY", "YCbCr": "RGB"}

    def decode(content: bytes, out: Pixels | None) -> Pixels | None:
        height, width, space, _ = simplejpeg.decode_jpeg_header(content)
        if space not in spaces or height * width > MOST_PIXELS:
            return None
        fits = out is not None and space == "YCbCr" and out.shape == (height, width, 3)
        pixels: Pixels = simplejpeg.decode_jpeg(content, spaces[space], buffer=out if fits else None)
        return out if fits else pixels

    return decode


def _torchvision() -> Decode:
    ensure_torchvision()
    io_image: Any = importlib.import_module("torchvision.io.image")

    def decode(content: bytes, out: Pixels | None) -> Pixels | None:
        encoded = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        pixels: Pixels = io_image.decode_jpeg(encoded).permute(1, 2, 0).numpy()
        return pixels if pixels.shape[2] in (1, 3) else None

    return decode


def _samples() -> Iterator[bytes]:
    """Small JPEGs of the kinds that faces come in: grey and colour, every subsampling, odd sizes, progressive."""
    noise = np.random.default_rng(0).integers(0, 256, (37, 42, 3), dtype=np.uint8)
    smooth = Image.fromarray(noise).resize((61, 51), Image.Resampling.BICUBIC)
    options: list[dict[str, Any]] = [{"subsampling": way, "quality": 80 + way} for way in range(3)]
    for image in (smooth, smooth.convert("L"), Image.fromarray(noise)):
        for given in (*options, {"quality": 30}, {"progressive": True}):
            buffer = io.BytesIO()
            image.save(buffer, "JPEG", **given)
            yield buffer.getvalue()


def _equal(pixels: Pixels | None, content: bytes) -> bool:
    expected = np.asarray(Image.open(io.BytesIO(content)))
    return pixels is not None and np.array_equal(pixels, expected.reshape(*expected.shape[:2], -1))


def decode_into(out: Pixels, content: bytes) -> None:
    """Fills `out`, size×size×C: the largest square in the middle of the image, made that size.

    `InputError` if it is not a whole image.
    """
    try:
        _decode_into(out, content)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # a decoder of a damaged file may raise anything
        raise InputError(str(error)) from error


def _decode_into(out: Pixels, content: bytes) -> None:
    size, _, channels = out.shape
    pixels = _decode_fast(content, out)
    if pixels is out:
        return
    if pixels is None:
        pixels = _as_array(_open_with_pillow(content, "L" if channels == 1 else "RGB"))
    if channels == 1 and pixels.shape[2] == 3:
        pixels = _as_array(Image.fromarray(pixels).convert("L"))  # a JPEG's own grey differs from Pillow's
    if pixels.shape[:2] != (size, size):
        whole = Image.fromarray(pixels if pixels.shape[2] == 3 else pixels[..., 0])
        pixels = _as_array(ImageOps.fit(whole, (size, size), Image.Resampling.BICUBIC))
    out[:] = pixels


def _decode_fast(content: bytes, out: Pixels) -> Pixels | None:
    """None if Pillow must decode it: it is not a JPEG, has an orientation, or is damaged."""
    if not content.startswith(JPEG) or EXIF in content:
        return None
    try:
        return decoder().decode(content, out)
    except (ValueError, RuntimeError):
        return None


def _open_with_pillow(content: bytes, mode: str) -> Image.Image:
    with Image.open(io.BytesIO(content), formats=FORMATS) as image:
        width, height = image.size
        if width * height > MOST_PIXELS:
            raise InputError(f"{width}×{height} pixels; expected at most {MOST_PIXELS}")
        return ImageOps.exif_transpose(image).convert(mode)


def _as_array(image: Image.Image) -> Pixels:
    pixels = np.asarray(image, dtype=np.uint8)
    return pixels.reshape(*pixels.shape[:2], -1)
