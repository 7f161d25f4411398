"""Retrieval: each embedding asks for its nearest others; equal scores count as drawn in random order."""

from dataclasses import dataclass

import numpy as np

from benchmark.metrics._curves import on_grid
from benchmark.metrics._frequency import by_frequency, of_groups
from benchmark.metrics._inputs import Bools, Floats, Ints, Measured, Values, as_labels, as_matrix, unit_rows
from benchmark.metrics._registry import Metric, count, measure

RECALL_AT = (1, 5)
_SCORES_AT_ONCE = 2**21
_GROUPS_PER_PLACE = 8  # of columns, where the highest scores are looked for

_SHARES = (
    Metric("map@r", "MAP@R", "mean average precision among an image's R nearest; R others are of its class", place=90),
    Metric("recall@1", "Recall@1", "test images whose nearest other one is of their class", place=100),
    Metric("recall@5", "Recall@5", "test images with one of their class among the five nearest", place=110),
)


@measure(
    *_SHARES,
    *of_groups(*_SHARES),
    count("n_queries", "Queries", "images that asked for their nearest"),
    count("left_out_queries", "Queries left out", "images alone in their class, or zero"),
    splits=("test",),
)
def retrieval(embeddings: Values, labels: Values, class_counts: Values | None = None) -> Measured:
    """Recall@1, Recall@5 and MAP@R, each image asking all others.

    `embeddings` are N×D, `labels` N. Recall@k is the share of queries with one of their class among the k nearest.
    Queries that are alone in their class or zero vectors are left out and counted. With `class_counts`, the training
    images of each class, the same for frequent, medium and rare classes. `InputError` says what does not fit.

    >>> retrieval([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], [0, 0, 1])["recall@1"]
    1.0
    """
    values, query, labels = retrieval_per_query(embeddings, labels)
    found: Measured = {}
    for name, value in values.items():
        found[name] = float(value.mean()) if len(value) else None
        found.update(by_frequency(name, value, labels[query], class_counts))
    return {**found, "n_queries": len(query), "left_out_queries": len(labels) - len(query)}


def retrieval_per_query(embeddings: Values, labels: Values) -> tuple[dict[str, Floats], Ints, Ints]:
    """Every query's own values, the positions of the queries, and all labels.

    `embeddings` are N×D, `labels` N; `InputError` says what does not fit.

    >>> retrieval_per_query([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], [0, 0, 1])[1].tolist()
    [0, 1]
    """
    matrix = as_matrix(embeddings, "embeddings")
    labels = as_labels(labels, len(matrix))
    unit, has_direction = unit_rows(matrix)
    gallery = np.flatnonzero(has_direction)
    unit, of_gallery = unit[gallery], labels[gallery]
    _, kind, size = np.unique(of_gallery, return_inverse=True, return_counts=True)
    relevant = size[kind] - 1
    asking = np.flatnonzero(relevant > 0)
    height = max(1, _SCORES_AT_ONCE // max(len(unit), 1))
    parts = [
        _values_of_queries(unit, of_gallery, asking[start : start + height], relevant)
        for start in range(0, len(asking), height)
    ]
    names = [*(f"recall@{k}" for k in RECALL_AT), "map@r"]
    values = {name: np.concatenate([part[name] for part in parts] or [np.zeros(0)]) for name in names}
    return values, gallery[asking], labels


def _values_of_queries(unit: Floats, labels: Ints, queries: Ints, relevant: Ints) -> dict[str, Floats]:
    scores = on_grid(unit[queries] @ unit.T)
    scores[np.arange(len(queries)), queries] = -np.inf  # nobody finds itself
    depth = min(max(int(relevant[queries].max()), *RECALL_AT), len(unit) - 1)
    score, found = _nearest(scores, depth)
    ranking = _rank(score, labels[found] == labels[queries, None], depth)
    values = {f"recall@{k}": ranking.chance_of_a_hit(min(k, depth)) for k in RECALL_AT}
    return {**values, "map@r": ranking.mean_precision(relevant[queries])}


def _nearest(scores: Floats, depth: int) -> tuple[Floats, Ints]:
    """Each row's `depth` highest scores and all that equal the last of them, highest first, and where they stood.

    A few lower ones may follow; rows are filled up with −∞ and position 0.
    """
    row, column = np.divmod(np.flatnonzero(scores >= _floors(scores, depth)[:, None]), scores.shape[1])
    counts = np.bincount(row)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (len(scores), int(counts.max()))
    found, score = np.zeros(shape, dtype=np.int64), np.full(shape, -np.inf)
    found[row, place], score[row, place] = column, scores[row, column]
    descending = np.argsort(-score, axis=1)
    return np.take_along_axis(score, descending, axis=1), np.take_along_axis(found, descending, axis=1)


def _floors(scores: Floats, depth: int) -> Floats:
    """For each row a number that its `depth` highest scores reach and few others do.

    That is the `depth`-th highest among the best of groups of columns: much quicker than to look for it among all.
    """
    groups = min(_GROUPS_PER_PLACE * depth, scores.shape[1])
    size = scores.shape[1] // groups
    best = scores[:, : groups * size].reshape(len(scores), size, groups).max(axis=1)
    floors: Floats = np.partition(best, groups - depth, axis=1)[:, groups - depth]
    return floors


@dataclass(frozen=True)
class _Ranking:
    """For the places 1 … depth of each query (columns): the group of equal scores a place belongs to."""

    place: Ints  # places taken by the group up to and with this one
    size: Ints  # members of the group, and below how many of them are of the query's class
    hits: Ints
    hits_before: Ints  # members of the query's class in front of the group

    def chance_of_a_hit(self, k: int) -> Floats:
        """The chance that one of the first k is of the query's class."""
        last = np.full(len(self.place), k - 1)
        row = np.arange(len(last))
        place, size = self.place[row, last], self.size[row, last]
        misses = size - self.hits[row, last]
        none = np.ones(len(last))
        for drawn in range(k):
            none *= np.where(drawn < place, np.maximum(misses - drawn, 0) / np.maximum(size - drawn, 1), 1.0)
        return np.where(self.hits_before[row, last] > 0, 1.0, 1.0 - none)

    def mean_precision(self, relevant: Ints) -> Floats:
        """Σ over the first R places of [hit]·precision there, ÷ R, expected over the order within groups."""
        rank = np.arange(1, self.place.shape[1] + 1)
        others = (self.place - 1) * (self.hits - 1) / np.maximum(self.size - 1, 1)
        expected = self.hits / self.size * (self.hits_before + 1 + others) / rank
        expected[rank[None, :] > relevant[:, None]] = 0.0
        mean: Floats = expected.sum(axis=1) / relevant
        return mean


def _rank(score: Floats, hit: Bools, depth: int) -> _Ranking:
    """The first `depth` places of rows in descending order; a group that goes on beyond them counts whole."""
    column = np.arange(score.shape[1])
    edge = np.ones((len(score), 1), dtype=np.bool_)
    changes = score[:, 1:] != score[:, :-1]
    start = np.maximum.accumulate(np.where(np.hstack([edge, changes]), column, 0), axis=1)[:, :depth]
    last = np.where(np.hstack([changes, edge]), column, len(column))
    end = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1][:, :depth]
    running = np.cumsum(np.hstack([~edge, hit]), axis=1)
    hits_before = np.take_along_axis(running, start, axis=1)
    hits = np.take_along_axis(running, end + 1, axis=1) - hits_before
    return _Ranking(column[:depth] - start + 1, end - start + 1, hits, hits_before)
