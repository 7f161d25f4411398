"""All pairs of N embeddings: the counting method against scikit-learn's roc_curve on the same scores.

python -m perf.verification [--quick]
"""

import time
from typing import Any

import numpy as np

from perf._alone import alone
from perf._model import Bar, Measured, Part, at_least, at_most
from perf._process import in_own_process, peak_bytes
from perf._timing import spread

TITLE = "All-pairs verification"
HOW = (
    "EER, AUC and TAR at FAR 1e-1 to 1e-6 over all pairs of N embeddings of 128 dimensions. Each side runs in a "
    "process of its own, one thread each, so that its peak memory is its own. scikit-learn's roc_curve is timed from "
    "finished scores, the counting method from the embeddings."
)
DIMENSIONS, IMAGES_PER_CLASS = 128, 10
FASTER, SMALLER, AGREE, LARGE = at_least(5.0), at_most(0.25), at_most(1e-6), at_most(2.0)


def measure(quick: bool) -> Part:
    few, many, rounds = (500, 1_000, 1) if quick else (10_000, 50_000, 2)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(in_own_process(by_counting, few))
        theirs.append(in_own_process(by_scikit_learn, few, True))
    faster = spread([b["seconds"] / a["seconds"] for a, b in zip(ours, theirs, strict=True)])
    memory = spread([a["bytes"] / b["bytes"] for a, b in zip(ours, theirs, strict=True)])
    at, at_many = (f"{n:,} embeddings, {n * (n - 1) // 2:,} pairs" for n in (few, many))
    alone_at_many = in_own_process(by_counting, many)

    def ratio(what: str, bar: Bar, found: Any) -> Measured:
        return Measured(what, at, found.value, "×", found.low, found.high, bar, judged=not quick)

    measured = [
        ratio("scikit-learn's time / ours", FASTER, faster),
        ratio("our peak memory / scikit-learn's", SMALLER, memory),
        Measured("largest difference of a metric, same scores", at, apart(ours[0], theirs[0]), "", bar=AGREE),
    ]
    if not quick:
        unrounded = in_own_process(by_scikit_learn, few, False)
        name = "largest difference of a metric, unrounded fp32 scores"
        measured.append(Measured(name, at, apart(ours[0], unrounded), "", bar=AGREE))
    measured += [
        Measured("our time", at, spread([one["seconds"] for one in ours]).value, "s"),
        Measured("our time", at_many, alone_at_many["seconds"], "s"),
        Measured("our peak memory", at_many, alone_at_many["bytes"] / 1e9, "GB", bar=LARGE, judged=not quick),
    ]
    return Part("verification", TITLE, HOW, measured)


def apart(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """The largest difference between metrics that both sides have."""
    pairs = [(ours["figures"][key], value) for key, value in theirs["figures"].items()]
    return max(float(abs(one - other)) for one, other in pairs if one is not None)


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
    return {"seconds": time.perf_counter() - start, "figures": figures, "bytes": peak_bytes()}


def by_scikit_learn(n: int, rounded: bool) -> dict[str, Any]:
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
    return {"seconds": time.perf_counter() - start, "figures": figures, "bytes": peak_bytes()}


def list_of_scores(n: int, rounded: bool) -> tuple[np.ndarray, np.ndarray]:
    """The scores that the counting method sees, product by product, as one list, or as fp32 left them."""
    from benchmark.metrics import _allpairs as allpairs
    from benchmark.metrics._curves import GRID
    from benchmark.metrics._inputs import unit_rows

    x, labels = embeddings(n)
    rows = unit_rows(x)[0].astype(np.float32)
    scores, same = np.empty(n * (n - 1) // 2, np.float32), np.empty(n * (n - 1) // 2, np.bool_)
    height, end = allpairs.rows_at_once(n), 0
    for top in range(0, n, height):
        block = rows[top : top + height]
        upper = np.triu_indices(len(block), 1)
        for others, first in ((block, top), (rows[top + len(block) :], top + len(block))):
            found = 1.0 - allpairs.pair_positions(block, others) / GRID if rounded else block @ others.T
            alike = labels[top : top + len(block), None] == labels[None, first : first + len(others)]
            found, alike = (found[upper], alike[upper]) if first == top else (found.ravel(), alike.ravel())
            scores[end : end + len(found)] = found
            same[end : end + len(found)] = alike
            end += len(found)
    assert end == len(scores)
    return scores, same


if __name__ == "__main__":
    alone(measure)
