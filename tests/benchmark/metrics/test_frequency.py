"""Verification of frequent, medium and rare classes apart."""

import numpy as np
import pytest

from benchmark import scoring
from benchmark.metrics import pairs_by_frequency, verification

COUNTS = np.array([150, 101, 100, 20, 19, 2])  # two frequent, two medium, two rare classes
LABELS = np.repeat(np.arange(6), 5)
RNG = np.random.default_rng(0)
PAIRS = np.array([(one, other) for one in range(30) for other in range(one)])


def arrays(counts: np.ndarray, closed: bool = True) -> dict[str, np.ndarray]:
    centres = RNG.standard_normal((6, 8))
    embeddings = centres[LABELS] + RNG.standard_normal((30, 8))
    found = {"weight": centres, "train/centres": centres, "train/counts": counts, "train/mean_angles": np.zeros(6)}
    of_split = {"embeddings": embeddings, "labels": LABELS, "pairs": PAIRS, "fold": np.arange(len(PAIRS)) % 5}
    of_split["same"] = LABELS[PAIRS[:, 0]] == LABELS[PAIRS[:, 1]]
    of_split |= {"logits": embeddings @ centres.T} if closed else {}
    return found | {f"test/{name}": value for name, value in of_split.items()}


def test_a_pair_belongs_to_the_groups_of_its_two_classes() -> None:
    pairs = np.array([[0, 1], [0, 10], [10, 25], [20, 21], [29, 0]])
    found = pairs_by_frequency(LABELS, pairs, COUNTS)
    assert {name: chosen.tolist() for name, chosen in found.items()} == {
        "frequent": [True, True, False, False, True],
        "medium": [False, True, True, False, False],
        "rare": [False, False, True, True, True],
    }


def test_classes_of_one_size_have_no_groups() -> None:
    assert pairs_by_frequency(LABELS, PAIRS, np.full(6, 50)) == {}
    assert set(pairs_by_frequency(LABELS, PAIRS, np.array([50, 50, 50, 50, 50, 5]))) == {"medium", "rare"}


def test_metrics_are_those_of_the_chosen_pairs() -> None:
    kept = arrays(COUNTS)
    found = scoring.score(kept).metrics
    rare = (LABELS[PAIRS] >= 4).any(axis=1)
    parts = (kept[f"test/{name}"][rare] for name in ("pairs", "same", "fold"))
    by_hand = verification(kept["test/embeddings"], LABELS, *parts)
    for name in ("accuracy", "eer", "auc"):
        assert found[f"test/{name}_rare"] == pytest.approx(by_hand[name])
    assert "test/accuracy_medium" in found
    assert "val/accuracy_rare" not in found


def test_the_jackknife_leaves_out_each_identity_of_the_chosen_pairs() -> None:
    kept = arrays(COUNTS)
    without = scoring.score(kept).jackknife
    assert len(without["test/auc_rare"]) == 6
    rare = (LABELS[PAIRS] >= 4).any(axis=1)
    for identity in range(6):
        left = rare & (LABELS[PAIRS] != identity).all(axis=1)
        parts = (kept[f"test/{name}"][left] for name in ("pairs", "same", "fold"))
        by_hand = verification(kept["test/embeddings"], LABELS, *parts)
        assert without["test/auc_rare"][identity] == pytest.approx(by_hand["auc"])
    assert "test/auc" in without


def test_open_sets_and_sets_of_equal_classes_have_none() -> None:
    for kept in (arrays(COUNTS, closed=False), arrays(np.full(6, 50))):
        assert not [name for name in scoring.score(kept).metrics if name.startswith(("test/auc_", "test/eer_"))]
        assert not [name for name in scoring.score(kept).jackknife if name.endswith("rare")]
