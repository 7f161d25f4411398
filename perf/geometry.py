"""Angles between many classes: time and memory of all figures, and the error of the usual fp32 acos.

python -m perf.geometry [--quick]
"""

import argparse
import resource
import time

import numpy as np

from benchmark.metrics import geometry, geometry_from_centres

DIMENSIONS = 64
LIMIT = 2e9  # bytes


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 classes instead of 100,000")
    classes = 10_000 if parser.parse_args().quick else 100_000
    for degrees in (0.01, 0.1, 1.0):
        usual, ours = error_of_fp32(degrees)
        print(
            f"an angle of {degrees:5.2f}°: fp32 acos is off by {usual:.1e}°, chord and float64 by {ours:.1e}°"
        )
    rng = np.random.default_rng(0)
    centres, weight = rng.standard_normal((2, classes, DIMENSIONS)).astype(np.float32)
    start = time.perf_counter()
    geometry_from_centres(centres, np.ones(classes, dtype=np.int64), np.zeros(classes), weight)
    seconds, peak = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    verdict = "met" if peak < LIMIT else "MISSED"
    print(f"{classes:,} classes of {DIMENSIONS} dimensions, all figures: {seconds:.0f} s")
    print(f"  {peak / 1e9:.2f} GB peak   bar: under {LIMIT / 1e9:.0f} GB   {verdict}")


if __name__ == "__main__":
    main()
