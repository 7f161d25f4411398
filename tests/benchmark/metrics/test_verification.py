import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from benchmark.metrics import all_pairs_verification, curve, deal_folds, pair_scores, score_counts, verification
from benchmark.metrics._allpairs import all_pairs_counts, pair_positions
from benchmark.metrics._curves import FARS, GRID, rates
from benchmark.metrics._folds import accuracy_on_folds, best_threshold
from benchmark.metrics._inputs import unit_rows


def sklearn_rates(scores: np.ndarray, same: np.ndarray) -> dict[str, float]:
    far, tar, _ = roc_curve(same, scores, drop_intermediate=False)
    grid = tar + far - 1
    after = int(np.argmax(grid >= 0))
    step = -grid[after - 1] / (grid[after] - grid[after - 1])
    return {
        "eer": far[after - 1] + step * (far[after] - far[after - 1]),
        "auc": roc_auc_score(same, scores),
        **{f"tar@far={name}": tar[far <= limit].max() for name, limit in FARS.items()},
    }


def agrees_with_sklearn(figures: dict[str, float | None], scores: np.ndarray, same: np.ndarray) -> None:
    for name, expected in sklearn_rates(scores, same).items():
        if figures[name] is not None:
            assert figures[name] == pytest.approx(expected, abs=1e-9), name


def faces(n: int, classes: int, noise: float, seed: int = 0, D: int = 16) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    x = rng.standard_normal((classes, D))[labels] + noise * rng.standard_normal((n, D))
    return x.astype(np.float32), labels


def at(*cosines: float) -> np.ndarray:
    """A first vector, and one with each of these cosines to it."""
    c = np.array(cosines)
    return np.vstack([[1.0, 0.0], np.column_stack([c, np.sqrt(1 - c**2)])])


def test_rates_by_hand_with_ties():
    scores = np.array([0.9, 0.8, 0.5, 0.5, 0.3])
    same = np.array([True, False, True, False, False])
    figures = rates(score_counts(scores, same))
    # wins: .9 beats 3 of 3; .5 beats one, ties with one, loses to one
    assert figures["auc"] == pytest.approx((3 + 1.5) / 6)
    # ROC (0,0) (0,.5) (1/3,.5) (2/3,1): it meets far = 1 − tar between the second and third point
    assert figures["eer"] == pytest.approx(0.4)
    assert figures["tar@far=1e-1"] is None  # needs 100 different pairs


def test_tar_at_far_by_hand():
    scores = np.r_[np.linspace(0.5, 0.99, 50), np.linspace(-0.5, 0.4, 85), np.full(10, 0.745), np.full(5, 0.95)]
    same = np.r_[np.ones(50, bool), np.zeros(100, bool)]
    figures = rates(score_counts(scores, same))
    # .10 of 100 allows 10 false accepts: 5 at .95, the 10 tied at .745 would make 15
    assert figures["tar@far=1e-1"] == pytest.approx((scores[:50] > 0.745).mean())
    assert figures["tar@far=1e-2"] is None


@pytest.mark.parametrize(("n_different", "measured"), [(99, False), (100, True)])
def test_a_far_needs_ten_false_accepts(n_different, measured):
    scores = np.r_[np.ones(5), np.zeros(n_different)]
    figures = rates(score_counts(scores, np.r_[np.ones(5, bool), np.zeros(n_different, bool)]))
    assert (figures["tar@far=1e-1"] is not None) == measured


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 400), st.sampled_from([2, 5, 50, 10**6]))
def test_rates_equal_scikit_learns(seed, n, levels):
    rng = np.random.default_rng(seed)
    same = rng.random(n) < 0.3
    same[:2] = [True, False]
    scores = np.round((rng.standard_normal(n) + same) / 8 * levels) / levels
    counts = score_counts(scores, same)
    figures = rates(counts)
    agrees_with_sklearn(figures, scores, same)
    far, tar, threshold = roc_curve(same, scores, drop_intermediate=False)
    drawn = curve(counts)
    np.testing.assert_allclose(drawn.far, far)
    np.testing.assert_allclose(drawn.tar, tar)
    np.testing.assert_allclose(drawn.frr, 1 - tar)
    np.testing.assert_allclose(drawn.threshold, threshold)


def test_a_thinned_curve_holds_points_of_the_whole():
    rng = np.random.default_rng(0)
    same = rng.random(20_000) < 0.2
    scores = rng.standard_normal(20_000) / 8 + same / 5
    whole = set(zip(*roc_curve(same, scores, drop_intermediate=False)[:2], strict=True))
    drawn = curve(score_counts(scores, same), max_points=100)
    assert 50 < len(drawn.far) <= 102
    assert set(zip(drawn.far, drawn.tar, strict=True)) <= whole
    assert (drawn.far[0], drawn.tar[0], drawn.far[-1], drawn.tar[-1]) == (0, 0, 1, 1)


def test_a_curve_of_more_scores_than_a_block_holds_reaches_its_end():
    rng = np.random.default_rng(0)
    scores, same = rng.standard_normal(70_000), rng.random(70_000) < 0.5
    drawn = curve(score_counts(scores, same), max_points=70_000)
    assert (drawn.far[-1], drawn.tar[-1]) == (1, 1)


@pytest.mark.parametrize(("n", "classes", "noise"), [(600, 40, 0.8), (2500, 3, 2.0), (900, 890, 0.5), (1500, 1200, 1)])
def test_all_pairs_equal_scikit_learn_on_the_same_scores(n, classes, noise):
    x, labels = faces(n, classes, noise)
    figures = all_pairs_verification(x, labels)
    unit = unit_rows(x)[0].astype(np.float32)
    i, j = np.triu_indices(n, 1)
    agrees_with_sklearn(figures, 1.0 - pair_positions(unit, unit)[i, j] / GRID, labels[i] == labels[j])
    raw = sklearn_rates((unit @ unit.T)[i, j], labels[i] == labels[j])
    assert figures["auc"] == pytest.approx(raw["auc"], abs=1e-6)
    assert figures["eer"] == pytest.approx(raw["eer"], abs=1e-6)


def test_all_pairs_count_every_pair_once_whatever_the_block(monkeypatch):
    x, labels = faces(300, 7, 1.0)
    whole, _ = all_pairs_counts(x, labels)
    monkeypatch.setattr("benchmark.metrics._allpairs._SCORES_AT_ONCE", 300 * 11)
    blocked, _ = all_pairs_counts(x, labels)
    sizes = np.bincount(labels)
    assert blocked.n_same == whole.n_same == int((sizes * (sizes - 1) // 2).sum())
    assert blocked.n_same + blocked.n_different == 300 * 299 // 2
    assert rates(blocked) == pytest.approx(rates(whole), abs=1e-6)


def test_all_pairs_leave_zero_vectors_out():
    x, labels = faces(50, 5, 0.5)
    padded = np.vstack([x, np.zeros((3, 16), np.float32)])
    figures = all_pairs_verification(padded, np.r_[labels, 0, 1, 2])
    assert figures == {**all_pairs_verification(x, labels), "left_out_embeddings": 3}


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2], [0], []])
def test_all_pairs_of_one_kind_are_not_measurable(labels):
    x = np.random.default_rng(0).standard_normal((len(labels), 4))
    figures = all_pairs_verification(x, np.array(labels, dtype=int))
    assert figures["eer"] is None
    assert figures["auc"] is None
    assert figures["tar@far=1e-1"] is None


def test_identical_scores_are_chance():
    x = np.outer(np.arange(1, 41), [0.3, -0.7, 0.2])  # one direction, many lengths
    labels = np.arange(40) % 4
    figures = all_pairs_verification(x, labels)
    assert figures["auc"] == 0.5
    assert figures["eer"] == 0.5
    i, j = np.triu_indices(40, 1)
    assert verification(x, labels, np.column_stack([i, j]))["auc"] == 0.5


def test_verification_by_hand():
    # the first embedding against eight others
    x = at(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)
    pairs = np.column_stack([np.zeros(8, int), np.arange(1, 9)])
    same = [True, True, True, False, True, False, False, False]
    folds = [0, 1, 0, 1, 0, 1, 0, 1]
    figures = verification(x, None, pairs, same, folds)
    # fold 0 is scored with the threshold .7 of fold 1 (between .8 and .6): .5 is wrong
    # fold 1 is scored with the threshold .4 of fold 0 (between .5 and .3): .6 is wrong, and .4 is on it
    assert figures["accuracy"] == pytest.approx((3 / 4 + 2 / 4) / 2)
    assert figures["accuracy_std"] == pytest.approx(np.std([0.75, 0.5], ddof=1))
    assert figures["accuracy_se"] == pytest.approx(figures["accuracy_std"] / np.sqrt(2))
    assert figures["auc"] == pytest.approx(15 / 16)
    assert figures["n_folds"] == 2
    assert figures["folds_share_identities"] is None


def test_the_threshold_never_sees_the_pairs_it_is_scored_on():
    scores = np.array([0.9, 0.8, 0.6, 0.5, 0.5, 0.4, 0.2, 0.1])
    same = np.array([1, 1, 0, 0, 1, 1, 0, 0], dtype=bool)
    folds = np.repeat([0, 1], 4)
    assert accuracy_on_folds(scores, same, folds)["accuracy"] == 0.5  # the best on all pairs would give .75


def test_best_threshold_is_midway():
    assert best_threshold(np.array([0.8, 0.2]), np.array([True, False])) == 0.5
    assert best_threshold(np.array([0.8, 0.2]), np.array([False, False])) == np.inf
    assert best_threshold(np.array([0.8, 0.2]), np.array([True, True])) == -np.inf


def test_folds_share_no_identity_where_pairs_allow_it():
    identities = np.array([[2 * i, 2 * i + odd] for i in range(30) for odd in (0, 1)])
    same = identities[:, 0] == identities[:, 1]
    folds = deal_folds(same, identities)
    for fold in range(10):
        assert not set(identities[folds == fold].ravel()) & set(identities[folds != fold].ravel())
        assert (folds == fold).sum() == 6


def test_folds_of_linked_identities_are_dealt_and_said_to_share():
    x, labels = faces(100, 10, 0.5)
    pairs = np.column_stack(np.triu_indices(100, 1))
    figures = verification(x, labels, pairs)
    assert figures["n_folds"] == 10
    assert figures["folds_share_identities"] == 1.0
    folds = deal_folds(labels[pairs[:, 0]] == labels[pairs[:, 1]], labels[pairs])
    assert np.ptp(np.bincount(folds)) <= 2


def test_tensors_and_arrays_agree_and_figures_are_plain():
    x, labels = faces(60, 6, 0.7)
    pairs = np.column_stack(np.triu_indices(60, 1))
    figures = verification(x, labels, pairs)
    assert verification(torch.tensor(x), torch.tensor(labels), torch.tensor(pairs)) == figures
    assert all(value is None or type(value) in (float, int) for value in figures.values())
    half = verification(torch.tensor(x).bfloat16(), labels, pairs)
    assert half["auc"] == pytest.approx(figures["auc"], abs=0.01)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_verification_ignores_order_rotation_and_length(seed):
    rng = np.random.default_rng(seed)
    x, labels = faces(40, 5, 1.0, seed, D=4)
    pairs = np.column_stack(np.triu_indices(40, 1))
    folds = rng.integers(0, 4, len(pairs))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    order = rng.permutation(len(pairs))
    swapped = np.where(rng.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])[order]
    again = verification(x * rng.uniform(0.1, 9, (40, 1)) @ turn, labels, swapped, folds=folds[order])
    assert again == pytest.approx(verification(x, labels, pairs, folds=folds), abs=2e-3)


def test_repeated_pairs_and_zero_vectors_are_counted():
    x = np.vstack([at(0.9, 0.1), [[0.0, 0.0]]])
    figures = verification(x, [0, 0, 1, 1], [[0, 1], [1, 0], [0, 2], [1, 2], [2, 3]])
    assert figures["repeated_pairs"] == 1
    assert figures["left_out_pairs"] == 1
    assert (figures["n_same"], figures["n_different"]) == (2, 2)


@pytest.mark.parametrize("same", [[True] * 3, [False] * 3])
def test_one_kind_of_pairs_is_not_measurable(same):
    figures = verification(np.eye(4), [0, 1, 2, 3], [[0, 1], [1, 2], [2, 3]], same, [0, 1, 2])
    unmeasured = ("accuracy", "accuracy_std", "accuracy_se", "eer", "auc", "tar@far=1e-1")
    assert [figures[name] for name in unmeasured] == [None] * 6


def test_no_pairs_at_all():
    figures = verification(np.eye(4), [0, 1, 2, 3], np.zeros((0, 2), dtype=int))
    assert figures["eer"] is None
    assert figures["accuracy"] is None
    assert figures["n_same"] == 0


@pytest.mark.parametrize(
    ("pairs", "same", "message"),
    [
        ([[0, 4]], None, "pair 0 is"),
        ([[-1, 2]], None, "pair 0 is"),
        ([[2, 2]], None, "with itself"),
        ([[0.0, 1.0]], None, "whole numbers"),
        ([0, 1], None, "P×2"),
        ([[0, 1]], [True, False], "booleans"),
        ([[0, 1]], [2], "booleans"),
    ],
)
def test_wrong_pairs_are_named(pairs, same, message):
    with pytest.raises(ValueError, match=message):
        verification(np.eye(4), [0, 1, 2, 3], pairs, same)


def test_nan_and_missing_labels_are_named():
    with pytest.raises(ValueError, match="first row 1"):
        verification([[1.0, 0], [np.nan, 1]], [0, 1], [[0, 1]])
    with pytest.raises(ValueError, match="row 0"):
        all_pairs_verification([[np.inf, 0], [1, 1]], [0, 1])
    with pytest.raises(ValueError, match="labels or same"):
        verification(np.eye(2), None, [[0, 1]])
    with pytest.raises(ValueError, match="same and different"):
        curve(score_counts(np.ones(3), np.ones(3, dtype=bool)))


def test_pair_scores_are_cosines():
    scores, scored = pair_scores([[3.0, 0], [1, 1], [0, 0]], [[0, 1], [1, 2]])
    assert scores[0] == pytest.approx(np.sqrt(0.5), abs=2**-24)
    assert scored.tolist() == [True, False]
