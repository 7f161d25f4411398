"""Accuracy by insightface's protocol, against a version that is written out step by step."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

from benchmark.metrics.insightface import insightface_verification


def longhand(embeddings: np.ndarray, pairs: np.ndarray, same: np.ndarray) -> tuple[float, float]:
    unit = normalize(embeddings.astype(np.float64))
    squared = [float(((unit[a] - unit[b]) ** 2).sum()) for a, b in pairs]
    shares = []
    for others, held_out in KFold(10, shuffle=False).split(np.arange(len(pairs))):
        best, threshold = -1.0, 0.0
        for candidate in np.arange(0, 4, 0.01):
            share = np.mean([(squared[n] < candidate) == same[n] for n in others])
            if share > best:
                best, threshold = float(share), float(candidate)
        shares.append(np.mean([(squared[n] < threshold) == same[n] for n in held_out]))
    return float(np.mean(shares)), float(np.std(shares))


@pytest.mark.parametrize(("count", "spread"), [(40, 0.3), (47, 1.0), (60, 3.0)])
def test_it_is_the_protocol_written_out(count: int, spread: float) -> None:
    generator = np.random.default_rng(count)
    centres = generator.standard_normal((count, 8))
    embeddings = np.concatenate([centres + spread * generator.standard_normal(centres.shape) for _ in range(2)])
    embeddings = embeddings.astype(np.float32) * generator.uniform(0.1, 30.0, (2 * count, 1)).astype(np.float32)
    same = generator.random(count) < 0.5
    partner = np.where(same, np.arange(count), (np.arange(count) + 1) % count) + count
    pairs = np.stack([np.arange(count), partner], axis=1)
    found = insightface_verification(embeddings, pairs, same)
    mean, deviation = longhand(embeddings, pairs, same)
    assert found["accuracy_insightface"] == pytest.approx(mean, abs=1e-9)
    assert found["accuracy_insightface_std"] == pytest.approx(deviation, abs=1e-9)


def test_fewer_than_ten_pairs_are_not_measured() -> None:
    found = insightface_verification(np.eye(3), [[0, 1]] * 9, [True] * 9)
    assert set(found.values()) == {None}


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="same must be 2 booleans"):
        insightface_verification(np.eye(3), [[0, 1], [1, 2]], [True])
    with pytest.raises(ValueError, match=r"pair 1 is \[1, 9\] of 3 embeddings"):
        insightface_verification(np.eye(3), [[0, 1], [1, 9]], [True, False])
