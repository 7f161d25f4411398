import numpy as np
import pytest

from benchmark.metrics import pair_jackknife, score_counts, verification, verification_jackknife
from benchmark.metrics._curves import rates
from benchmark.metrics._folds import accuracy_on_folds, decided_rightly
from benchmark.metrics.verification import pair_scores


def pairs_of_identities(seed: int, n: int = 12, levels: int = 30):
    rng = np.random.default_rng(seed)
    own = np.repeat(np.arange(n), 4)
    left = rng.integers(0, n, 300)
    right = (left + rng.integers(1, n, 300)) % n
    identities = np.vstack([np.column_stack([own, own]), np.column_stack([left, right])]) * 10 + 3
    same = identities[:, 0] == identities[:, 1]
    scores = np.round((rng.standard_normal(len(same)) / 4 + same / 2) * levels) / levels
    return scores, same, identities, rng.integers(0, 3, len(same))


@pytest.mark.parametrize("at_once", [1, 2**20])
def test_equals_measuring_without_each_identity(monkeypatch, at_once):
    monkeypatch.setattr("benchmark.metrics._jackknife._CELLS_AT_ONCE", at_once)
    scores, same, identities, folds = pairs_of_identities(0)
    values = pair_jackknife(scores, same, identities, folds)
    right = decided_rightly(scores, same, folds)
    assert list(values) == ["accuracy", "eer", "auc", "tar@far=1e-1"]
    for position, identity in enumerate(np.unique(identities)):
        kept = (identities != identity).all(axis=1)
        expected = rates(score_counts(scores[kept], same[kept]))
        for name in ("eer", "auc", "tar@far=1e-1"):
            assert values[name][position] == pytest.approx(expected[name], abs=1e-12)
        shares = [right[kept & (folds == fold)].mean() for fold in range(3)]
        assert values["accuracy"][position] == pytest.approx(np.mean(shares))


def test_accuracy_averages_to_that_of_all_pairs():
    scores, same, identities, folds = pairs_of_identities(1)
    without = pair_jackknife(scores, same, identities, folds)["accuracy"]
    assert without.mean() == pytest.approx(accuracy_on_folds(scores, same, folds)["accuracy"], abs=0.01)
    assert np.ptp(without) > 0


def test_verification_without_each_identity():
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(5, 17), 5)
    x = rng.standard_normal((12, 6))[labels - 5] + 0.9 * rng.standard_normal((60, 6))
    pairs = np.column_stack(np.triu_indices(60, 1))
    folds = rng.integers(0, 4, len(pairs))
    without = verification_jackknife(x, labels, pairs, folds=folds)
    for position, identity in enumerate(range(5, 17)):
        kept = (labels[pairs] != identity).all(axis=1)
        expected = verification(x, labels, pairs[kept], folds=folds[kept])
        assert without["eer"][position] == pytest.approx(expected["eer"])
        assert without["auc"][position] == pytest.approx(expected["auc"])
        assert without["accuracy"][position] == pytest.approx(expected["accuracy"], abs=0.02)


def test_an_identity_whose_pairs_have_no_score_keeps_its_place():
    labels = np.repeat(np.arange(6), 4)
    x = np.random.default_rng(0).standard_normal((24, 5))
    x[labels == 2] = 0.0
    pairs = np.column_stack(np.triu_indices(24, 1))
    without = verification_jackknife(x, labels, pairs)
    assert len(without["auc"]) == 6
    assert without["auc"][2] == pytest.approx(verification(x, labels, pairs)["auc"])


def test_what_cannot_be_measured_is_absent():
    identities = np.array([[0, 0], [0, 1], [0, 2]])
    assert pair_jackknife([0.9, 0.1, 0.2], [True, False, False], identities) == {}
    assert pair_jackknife([0.9, 0.1], [True, True], [[0, 0], [1, 1]]) == {}
    with pytest.raises(ValueError, match="do not fit"):
        pair_jackknife([0.9, 0.1], [True, True], [0, 0])


def test_without_each_pair_where_identities_are_unknown():
    rng = np.random.default_rng(4)
    same = np.arange(240) % 2 == 0
    pairs = np.arange(480).reshape(-1, 2)
    labels = np.where(np.repeat(same, 2), np.arange(480) // 2 * 2, np.arange(480))
    x = rng.standard_normal((480, 5))
    x[1::2][same] = x[0::2][same] + 0.8 * rng.standard_normal((120, 5))
    folds = np.arange(240) // 2 % 4
    without = verification_jackknife(x, labels, pairs, same, folds, clusters=np.arange(480) // 2)
    scores = pair_scores(x, pairs)[0]
    right = decided_rightly(scores, same, folds)
    assert {name: len(values) for name, values in without.items()} == dict.fromkeys(without, 240)
    for pair in range(240):
        kept = np.arange(240) != pair
        expected = rates(score_counts(scores[kept], same[kept]))
        for name in ("eer", "auc", "tar@far=1e-1"):
            assert without[name][pair] == pytest.approx(expected[name], abs=1e-12)
        shares = [right[kept & (folds == fold)].mean() for fold in range(4)]
        assert without["accuracy"][pair] == pytest.approx(np.mean(shares), abs=1e-12)
    assert verification(x, labels, pairs, same, folds, np.arange(480) // 2)["folds_share_identities"] is None
