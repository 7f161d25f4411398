import numpy as np
import pytest

from benchmark import scoring
from benchmark.metrics import verification
from tests.benchmark.metrics.test_contract import made_up


def test_figures_without_people_seen_in_training():
    arrays = made_up(0, closed=False)
    arrays["test/seen"] = arrays["test/labels"] < 2
    found = scoring.score(arrays)
    pairs = arrays["test/pairs"]
    kept = (arrays["test/labels"][pairs] >= 2).all(axis=1)
    parts = (arrays[f"test/{name}"][kept] for name in ("pairs", "same", "fold"))
    expected = verification(arrays["test/embeddings"], arrays["test/labels"], *parts)
    for key in ("accuracy", "eer", "auc"):
        assert found.metrics[f"test/{key}_unseen"] == expected[key]
    assert found.metrics["test/n_unseen_pairs"] == kept.sum() == 190
    assert len(found.jackknife["test/accuracy_unseen"]) == 4
    assert found.metrics["test/accuracy"] != found.metrics["test/accuracy_unseen"]
    del arrays["test/seen"]
    assert not [key for key in scoring.score(arrays).metrics if "unseen" in key]


def test_nothing_is_measured_where_everybody_was_seen():
    arrays = made_up(0, closed=False)
    arrays["test/seen"] = np.ones(30, dtype=np.bool_)
    found = scoring.score(arrays)
    assert found.metrics["test/n_unseen_pairs"] == 0
    assert found.metrics["test/accuracy_unseen"] is None
    assert "test/accuracy_unseen" not in found.jackknife


def test_labels_of_unknown_identities_measure_pairs_alone():
    arrays = made_up(0, closed=False)
    before = scoring.score(arrays)
    arrays["test/clusters"] = np.arange(30) // 2
    found = scoring.score(arrays)
    assert found.metrics["test/eer"] == pytest.approx(before.metrics["test/eer"])
    assert len(found.jackknife["test/eer"]) == 15
    assert "test/recall@1" in before.metrics
    assert not [key for key in found.metrics if key in ("test/recall@1", "test/intra", "test/map@r")]
    assert found.metrics["val/intra"] == before.metrics["val/intra"]
