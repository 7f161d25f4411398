"""Pairs over all kinds of label counts."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets._draws import Draws
from datasets._given_pairs import fold_pairs
from datasets._pairs import draw_pairs, share_out

counts = st.lists(st.integers(1, 12), min_size=1, max_size=40)


@given(counts, st.sampled_from(["open", "closed"]), st.integers(0, 3), st.integers(1, 200))
@settings(max_examples=80, deadline=None)
def test_pairs_are_right(sizes: list[int], protocol: str, seed: int, wanted: int) -> None:
    labels = torch.from_numpy(np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes)))
    found = draw_pairs(labels, protocol, seed, wanted=wanted)  # type: ignore[arg-type]
    ordered = found.pairs.sort(dim=1).values
    assert (ordered[:, 0] < ordered[:, 1]).all()
    assert len(ordered.unique(dim=0)) == len(ordered)
    assert torch.equal(labels[found.pairs[:, 0]] == labels[found.pairs[:, 1]], found.same)
    assert found.same.sum() <= wanted
    assert (~found.same).sum() <= wanted
    if protocol == "closed":
        assert found.same.any() == (max(sizes) > 1)
    if protocol == "open" and len(sizes) >= 4:
        fold_of: dict[int, int] = {}
        for fold, pair in zip(found.fold.tolist(), labels[found.pairs].tolist(), strict=True):
            assert all(fold_of.setdefault(identity, fold) == fold for identity in pair)


@given(counts, st.integers(0, 300))
@settings(deadline=None)
def test_share_out_is_even_and_complete(room: list[int], total: int) -> None:
    room_array = np.array(room, dtype=np.int64)
    given_out = share_out(room_array, total, Draws("test"))
    assert given_out.sum() == min(total, sum(room))
    assert (given_out <= room_array).all()
    open_ = given_out[given_out < room_array]  # those that could take more have nearly the same
    assert len(open_) == 0 or given_out.max() <= open_.min() + 1


def test_large_closed_sets_have_folds_that_share_no_image() -> None:
    labels = torch.arange(10).repeat(200)
    found = draw_pairs(labels, "closed", 0)
    assert found.same.sum() == (~found.same).sum() == 10_000
    fold_of: dict[int, int] = {}
    for fold, pair in zip(found.fold.tolist(), found.pairs.tolist(), strict=True):
        assert all(fold_of.setdefault(image, fold) == fold for image in pair)


def test_given_pairs_get_folds_that_share_no_identity_where_they_can() -> None:
    apart = np.array([(2 * n + i, 2 * n + j) for n in range(20) for i, j in ((0, 0), (0, 1), (1, 1))])
    fold = fold_pairs(apart, 0)
    assert [len(set(fold[3 * n : 3 * n + 3].tolist())) for n in range(20)] == [1] * 20
    assert sorted(set(fold.tolist())) == list(range(10))
    chained = np.array([(n, n + step) for n in range(50) for step in (0, 1)])
    fold = fold_pairs(chained, 0)
    assert np.bincount(fold).tolist() == [10] * 10


def test_draws_never_change() -> None:
    draws = Draws("a key", 7)
    assert draws.below(1000, 5).tolist() == [267, 511, 447, 136, 745]
    assert draws.permutation(6).tolist() == [5, 2, 4, 3, 0, 1]
    assert sorted(draws.distinct(100, 100).tolist()) == list(range(100))
    assert len(set(draws.distinct(10**12, 1000).tolist())) == 1000
