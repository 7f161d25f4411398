"""Decoded pixels are Pillow's, whichever library decodes, and colour stays in its order."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from datasets import _jpeg
from datasets._jpeg import decode_into, decoder
from tests.datasets.packs import jpeg


def by_pillow(content: bytes, size: int, channels: int) -> np.ndarray:
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(content))).convert("L" if channels == 1 else "RGB")
    if image.size != (size, size):
        image = ImageOps.fit(image, (size, size), Image.Resampling.BICUBIC)
    return np.asarray(image).reshape(size, size, channels).transpose(2, 0, 1)


def decoded(content: bytes, size: int, channels: int) -> np.ndarray:
    out = np.full((size, size, channels), 77, dtype=np.uint8)
    decode_into(out, content)
    return out.transpose(2, 0, 1)


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn
    return jpeg(5, 20, exif=exif.tobytes())


def every_kind() -> Iterator[tuple[str, bytes]]:
    colour = Image.open(io.BytesIO(jpeg(1, 30)))
    for mode in ("RGB", "L"):
        for way in range(3):
            yield f"{mode} {way}", jpeg(2, 20, mode, subsampling=way)
        yield f"{mode} progressive", jpeg(3, 33, mode, progressive=True)
    yield "CMYK", jpeg(4, 20, "CMYK")
    yield "turned", turned()
    yield "wide", saved(colour.resize((40, 21)), "JPEG")
    yield "PNG", saved(colour, "PNG")
    yield "PNG with alpha", saved(colour.convert("RGBA"), "PNG")
    yield "PNG with palette", saved(colour.convert("P"), "PNG")
    yield "WebP", saved(colour, "WEBP")
    yield "BMP", saved(colour.convert("L"), "BMP")


KINDS = dict(every_kind())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [20, 13])
def test_pixels_are_those_of_pillow(kind: str, channels: int, size: int) -> None:
    assert np.array_equal(decoded(KINDS[kind], size, channels), by_pillow(KINDS[kind], size, channels))


def test_colour_and_its_order() -> None:
    image = Image.new("RGB", (16, 16), (250, 120, 10))
    red, green, blue = decoded(saved(image, "JPEG", quality=100), 16, 3).mean(axis=(1, 2))
    assert (round(red / 10), round(green / 10), round(blue / 10)) == (25, 12, 1)


def test_the_fast_decoder_is_used_and_is_bit_equal() -> None:
    pytest.importorskip("simplejpeg")
    assert decoder().name == "simplejpeg"
    assert decoder().equal
    assert decoder().mark == ""
    assert "bit-equal to Pillow" in str(decoder())


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    decoder.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    decoder.cache_clear()


def unavailable() -> Any:
    raise ImportError


def test_pillow_is_the_last_resort(fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(_jpeg, "_simplejpeg", unavailable)
    fresh.setattr(_jpeg, "_torchvision", unavailable)
    assert (decoder().name, decoder().mark) == ("Pillow", "")
    test_pixels_are_those_of_pillow("RGB 2", 3, 13)


def test_a_decoder_that_differs_is_named_in_the_digest(fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(_jpeg, "_simplejpeg", lambda: lambda content, out: np.zeros((3, 3, 3), dtype=np.uint8))
    assert not decoder().equal
    assert decoder().mark.startswith("simplejpeg ")
    assert "not bit-equal" in str(decoder())


@pytest.mark.parametrize("content", [b"", b"no image", b"\xff\xd8\xff", jpeg(1)[:200], b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_image(content: bytes) -> None:
    with pytest.raises(Exception, match=r"cannot identify|[Tt]runcated|broken"):
        decoded(content, 16, 3)


def test_huge_images_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jpeg, "MOST_PIXELS", 100)
    with pytest.raises(ValueError, match="16×16 pixels; expected at most 100"):
        decoded(jpeg(1), 16, 3)
