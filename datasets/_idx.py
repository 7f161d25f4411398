"""The IDX format of MNIST and its kin, read as untrusted input."""

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from datasets._errors import InputError

MOST_BYTES = 1 << 28  # EMNIST letters, the largest of the family, has 98 MB
UNSIGNED_BYTE = 0x08


def read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """The array of an IDX file of unsigned bytes, packed (.gz) or not."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            return parse_idx(file, dimensions)  # type: ignore[arg-type]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is no whole gzip file: {error}; remove it and get it again") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}; remove it and get it again") from None


def parse_idx(file: IO[bytes], dimensions: int) -> NDArray[np.uint8]:
    """Header and sizes are checked before anything of the announced size is allocated."""
    header = file.read(4 + 4 * dimensions)
    if len(header) < 4 + 4 * dimensions:
        raise InputError(f"an IDX header of {4 + 4 * dimensions} bytes was expected, {len(header)} came")
    zero, kind, depth = struct.unpack(">HBB", header[:4])
    if zero != 0 or kind != UNSIGNED_BYTE or depth != dimensions:
        raise InputError(f"an IDX header for bytes in {dimensions} dimension(s) was expected, not {header[:4].hex()}")
    shape = struct.unpack(f">{dimensions}I", header[4:])
    size = math.prod(shape)
    if not 0 < size <= MOST_BYTES:
        raise InputError(f"the IDX header announces {shape}: {size} bytes; allowed are 1 to {MOST_BYTES}")
    content = file.read(size + 1)
    if len(content) != size:
        came = f"{len(content)}" if len(content) < size else f"more than {size}"
        raise InputError(f"the IDX header announces {size} bytes, {came} came")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape).copy()
