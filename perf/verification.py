"""All pairs of N embeddings: the counting method against scikit-learn's roc_curve on the same scores.

python -m perf.verification [--quick]

Each side runs in a process of its own, so that its peak memory is its own. scikit-learn is timed from
finished scores, the counting method from the embeddings. One thread each, as the runner's workers have.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DIMENSIONS, IMAGES_PER_CLASS = 128, 10
FASTER, SMALLER, AGREE = 5.0, 0.25, 1e-6
LARGE_LIMIT = 2e9  # bytes


def embeddings(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.arange(n) // IMAGES_PER_CLASS
    centres = 0.8 * rng.standard_normal((labels[-1] + 1, DIMENSIONS)).astype(np.float32)
    return centres[labels] + rng.standard_normal((n, DIMENSIONS)).astype(np.float32), labels


def by_counting(n: int) -> dict[str, Any]:
    from benchmark.metrics import all_pairs_verification

    x, labels = embeddings(n)
    start = time.perf_counter()
    figures = all_pairs_verification(x, labels)
    return {"seconds": time.perf_counter() - start, "figures": figures}


def by_scikit_learn(n: int, rounded: bool = True) -> dict[str, Any]:
    from sklearn.metrics import auc, roc_curve

    scores, same = list_of_scores(n, rounded)
    start = time.perf_counter()
    far, tar, _ = roc_curve(same, scores, drop_intermediate=False)
    after = int(np.argmax(tar + far >= 1))
    low, high = tar[after - 1] + far[after - 1] - 1, tar[after] + far[after] - 1
    figures = {
        "auc": float(auc(far, tar)),
        "eer": float(far[after - 1] - low / (high - low) * (far[after] - far[after - 1])),
    }
    for k in range(1, 7):
        figures[f"tar@far=1e-{k}"] = float(tar[np.searchsorted(far, 10.0**-k, "right") - 1])
    return {"seconds": time.perf_counter() - start, "figures": figures}


def list_of_scores(n: int, rounded: bool) -> tuple[np.ndarray, np.ndarray]:
    """The scores that the counting method sees, product by product, as one list, or as fp32 left them."""
    from benchmark.metrics import allpairs
    from benchmark.metrics.inputs import unit_rows

    x, labels = embeddings(n)
    rows = unit_rows(x)[0].astype(np.float32)
    scores, same = np.empty(n * (n - 1) // 2, np.float32), np.empty(n * (n - 1) // 2, np.bool_)
    height, end = allpairs.rows_at_once(n), 0
    for top in range(0, n, height):
        block = rows[top : top + height]
        upper = np.triu_indices(len(block), 1)
        for others, first in ((block, top), (rows[top + len(block) :], top + len(block))):
            found = (
                1.0 - allpairs.pair_positions(block, others) / allpairs.GRID if rounded else block @ others.T
            )
            alike = labels[top : top + len(block), None] == labels[None, first : first + len(others)]
            found, alike = (found[upper], alike[upper]) if first == top else (found.ravel(), alike.ravel())
            scores[end : end + len(found)] = found
            same[end : end + len(found)] = alike
            end += len(found)
    assert end == len(scores)
    return scores, same


SIDES: dict[str, Callable[[int], dict[str, Any]]] = {
    "counting": by_counting,
    "sklearn": by_scikit_learn,
    "unrounded": lambda n: by_scikit_learn(n, rounded=False),
}


def in_own_process(side: str, n: int) -> dict[str, Any]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    call = [sys.executable, "-m", "perf.verification", "--side", side, "--n", str(n)]
    root = Path(__file__).parents[1]
    answer = subprocess.run(
        call, env=environment, cwd=root, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    result: dict[str, Any] = json.loads(answer.splitlines()[-1])
    return result


def verdict(met: bool, quick: bool = False) -> str:
    return "(not for so few)" if quick else "met" if met else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="2,000 and 10,000 embeddings, not 10,000 and 50,000"
    )
    parser.add_argument("--side", choices=list(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--n", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        result = SIDES[options.side](options.n)
        result["bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(result))
        return

    small, large = (2_000, 10_000) if options.quick else (10_000, 50_000)
    ours, theirs = in_own_process("counting", small), in_own_process("sklearn", small)
    print(f"all pairs of {small:,} embeddings ({small * (small - 1) // 2:,} pairs)")
    for name, side in (("counting", ours), ("scikit-learn", theirs)):
        print(f"  {name:14} {side['seconds']:7.2f} s  {side['bytes'] / 1e9:6.2f} GB peak")
    faster, share = theirs["seconds"] / ours["seconds"], ours["bytes"] / theirs["bytes"]
    fast, small_enough = verdict(faster >= FASTER, options.quick), verdict(share <= SMALLER, options.quick)
    print(f"  {faster:.1f}× faster          bar: at least {FASTER:.0f}×     {fast}")
    print(f"  {share:.2f} of the memory    bar: at most {SMALLER:.2f}    {small_enough}")
    for name, side in (("the same scores", theirs), ("unrounded fp32", in_own_process("unrounded", small))):
        figures = [(ours["figures"][key], value) for key, value in side["figures"].items()]
        apart = max(abs(one - other) for one, other in figures if one is not None)
        print(
            f"  figures on {name}: within {apart:.0e}   bar: within {AGREE:.0e}   {verdict(apart <= AGREE)}"
        )

    alone = in_own_process("counting", large)
    print(f"all pairs of {large:,} embeddings ({large * (large - 1) // 2:,} pairs)")
    print(f"  counting       {alone['seconds']:7.2f} s  {alone['bytes'] / 1e9:6.2f} GB peak", end="     ")
    print(f"bar: under {LARGE_LIMIT / 1e9:.0f} GB   {verdict(alone['bytes'] < LARGE_LIMIT)}")


if __name__ == "__main__":
    main()
