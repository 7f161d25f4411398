"""Angles between many classes: time and memory of all figures, and the error of the usual fp32 acos.

python -m perf.geometry [--quick]
"""

import time
from collections.abc import Callable

import numpy as np

from benchmark.metrics import geometry, geometry_from_centres
from perf._alone import alone
from perf._model import Measured, Part, at_most
from perf._process import in_own_process, peak_bytes

TITLE = "Angles between classes"
HOW = (
    "All geometry metrics of centres and weights of 64 dimensions, in a separate process with two threads, and by "
    "how many degrees a small angle is missed by the usual acos of an fp32 cosine and by this package."
)
DIMENSIONS = 64
FITS = at_most(2.0)


def measure(quick: bool) -> Part:
    classes = 500 if quick else 100_000
    seconds, peak = in_own_process(all_figures, classes, threads=1 if quick else 2)
    at = f"{classes:,} classes"
    part = Part("geometry", TITLE, HOW, [Measured("all angles", at, seconds, "s")])
    part.measured.append(Measured("peak memory of all angles", at, peak / 1e9, "GB", bar=FITS, judged=not quick))
    for degrees in (0.01, 0.1, 1.0):
        usual, ours = error_of_fp32(degrees)
        at = f"an angle of {degrees}°"
        part.measured += [Measured("acos in fp32 is off by", at, usual, "°")]
        part.measured += [Measured("this package is off by", at, ours, "°")]
    return part


def all_figures(classes: int) -> tuple[float, int]:
    """Seconds and the process's peak in bytes."""
    run = prepared(classes)
    start = time.perf_counter()
    run()
    return time.perf_counter() - start, peak_bytes()


def prepared(classes: int) -> Callable[[], object]:
    """A function that computes all metrics of so many random classes."""
    rng = np.random.default_rng(0)
    centres, weight = rng.standard_normal((2, classes, DIMENSIONS)).astype(np.float32)
    counts, angles = np.ones(classes, dtype=np.int64), np.zeros(classes)
    return lambda: geometry_from_centres(centres, counts, angles, weight)


def error_of_fp32(degrees: float) -> tuple[float, float]:
    """By how many degrees a small angle is missed: acos of a clamped fp32 cosine, and this package."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((DIMENSIONS, DIMENSIONS)))[0]
    pair = np.zeros((2, DIMENSIONS))
    pair[:, 0], pair[1, 0], pair[1, 1] = 1.0, np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    pair = (pair @ turn).astype(np.float32)
    unit = pair / np.linalg.norm(pair, axis=1, keepdims=True)
    usual = float(np.degrees(np.arccos(np.clip(unit[0] @ unit[1], -1, 1))))
    ours = geometry(pair, [0, 1])["c_inter"]
    assert ours is not None
    return abs(usual - degrees), abs(ours - degrees)


if __name__ == "__main__":
    alone(measure)
