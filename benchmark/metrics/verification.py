"""Verification on given pairs: are these two images of the same identity?"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from benchmark.errors import InputError
from benchmark.metrics._curves import FARS, on_grid, rates, score_counts
from benchmark.metrics._folds import accuracy_on_folds, deal_folds, share_identities
from benchmark.metrics._frequency import of_groups, pairs_by_frequency
from benchmark.metrics._inputs import Bools, Floats, Ints, Measured, Values, as_array, as_labels, as_matrix, unit_rows
from benchmark.metrics._jackknife import pair_jackknife
from benchmark.metrics._registry import Metric, count, measure

Value = TypeVar("Value")


def verification_jackknife(
    embeddings: Values,
    labels: Values,
    pairs: Values,
    same: Values | None = None,
    folds: Values | None = None,
    clusters: Values | None = None,
) -> dict[str, Floats]:
    """The metrics of `verification` without each of the identities that the pairs name, in ascending order.

    Small enough to be kept with a run; the statistics need it for intervals that carry the test identities.
    `embeddings`, `labels`, `pairs`, `same`, `folds` and errors are those of `verification`. `clusters` (N) are left out
    instead of identities where these are unknown: then they are the pairs.

    >>> rows, labels = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0], [-1.0, 0.0], [-1.0, 0.1]], [0, 0, 1, 1, 2, 2]
    >>> verification_jackknife(rows, labels, [[0, 1], [2, 3], [4, 5], [0, 2], [2, 4], [0, 4]])["auc"].tolist()
    [1.0, 1.0, 1.0]
    """
    found = _score(embeddings, labels, pairs, same, folds)
    units = as_labels(labels if clusters is None else clusters, len(as_array(embeddings)))[as_array(pairs)]
    return pair_jackknife(found.scores, found.same, units[found.scored], found.folds, units)


_entered = partial(Metric, entered=True)
_MAIN = (
    _entered(
        "accuracy",
        "Verification accuracy",
        "test pairs rightly called same or different, the threshold picked on the other folds",
        place=20,
        main="open",
    ),
    _entered(
        "eer",
        "EER",
        "error rate at which as many same pairs are refused as different accepted",
        better="lower",
        place=30,
    ),
    Metric("auc", "AUC", "area under ROC: a same pair scores above a different one", unit="", decimals=4, place=40),
)
_TARS = tuple(
    Metric(
        f"tar@far={name}",
        f"TAR@FAR={name}",
        f"same pairs accepted when {100 * far:g} % of different pairs are",
        table="performance" if far >= 1e-4 else "",
        place=50 + place,
        entered=name == "1e-3",
    )
    for place, (name, far) in enumerate(FARS.items())
)


@measure(
    *_MAIN,
    *_TARS,
    Metric("accuracy_std", "Accuracy, SD", "standard deviation of accuracy over folds", better="neither", table=""),
    Metric("accuracy_se", "Accuracy, SE", "standard error of accuracy over folds", better="neither", table=""),
    Metric("folds_share_identities", "Shared identities", "1 if an identity is in two folds", "", "neither", table=""),
    count("n_folds", "Folds", "folds that accuracy is the mean of"),
    count("n_same", "Same pairs", "pairs of one identity"),
    count("n_different", "Different pairs", "pairs of two identities"),
    count("repeated_pairs", "Repeated pairs", "pairs that occur again"),
    count("left_out_pairs", "Pairs left out", "pairs with a vector that has no direction"),
    jackknife=verification_jackknife,
)
def verification(
    embeddings: Values,
    labels: Values | None,
    pairs: Values,
    same: Values | None = None,
    folds: Values | None = None,
    clusters: Values | None = None,
) -> Measured:
    """k-fold accuracy, EER, AUC and TAR at FAR of the pairs' cosines.

    `accuracy` is the mean over folds with the threshold picked on the other folds, `accuracy_std` the
    standard deviation over folds and `accuracy_se` the standard error of their mean. Without `same` the
    labels decide; without `folds` ten are dealt, sharing no identity where the pairs allow it
    (`folds_share_identities` says whether they do). Pairs with a zero vector are left out and counted;
    repeated pairs are kept and counted. `embeddings` are N×D, `labels` N, `pairs` P×2 positions, `same` and `folds` P;
    with `clusters` identities are unknown, and so is whether folds share them. `InputError` says what does not fit.

    >>> verification([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], [0, 0, 1], [[0, 1], [0, 2]])["auc"]
    1.0
    """
    found = _score(embeddings, labels, pairs, same, folds)
    counts = score_counts(found.scores, found.same)
    return {
        **accuracy_on_folds(found.scores, found.same, found.folds if counts.measurable else None),
        "folds_share_identities": share_identities(found.identities if clusters is None else None, found.folds),
        **rates(counts),
        "repeated_pairs": found.repeated,
        "left_out_pairs": found.left_out,
    }


def _of_groups(function: Callable[..., dict[str, Value]]) -> Callable[..., dict[str, Value]]:
    """The same for the pairs of each group of classes."""

    def of_each(
        embeddings: Values, labels: Values, pairs: Values, same: Values, folds: Values, class_counts: Values
    ) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for group, chosen in pairs_by_frequency(labels, pairs, class_counts).items():
            of_group = function(embeddings, labels, pairs[chosen], same[chosen], folds[chosen])
            found |= {f"{one.key}_{group}": of_group[one.key] for one in _MAIN if one.key in of_group}
        return found

    return of_each


@measure(*of_groups(*_MAIN), splits=("test",), jackknife=_of_groups(verification_jackknife))
def verification_by_frequency(
    embeddings: Values, labels: Values, pairs: Values, same: Values, folds: Values, class_counts: Values
) -> Measured:
    """Of the pairs with an image of a frequent, medium or rare class, where classes are of several sizes.

    `class_counts` are the training images of each class that `labels` names.
    """
    return _of_groups(verification)(embeddings, labels, pairs, same, folds, class_counts)


@dataclass(frozen=True)
class _Scored:
    """The pairs that have a score, and how many have none or occur again."""

    scores: Floats
    scored: Bools  # of all pairs
    same: Bools
    identities: Ints | None
    folds: Ints | None
    left_out: int
    repeated: int


def _score(
    embeddings: Values, labels: Values | None, pairs: Values, same: Values | None, folds: Values | None
) -> _Scored:
    matrix = as_matrix(embeddings, "embeddings")
    pairs = as_pairs(pairs, len(matrix))
    identities = None if labels is None else as_labels(labels, len(matrix))[pairs]
    alike = _which_are_same(same, identities, len(pairs))
    scores, scored = pair_scores(matrix, pairs)
    alike, identities = alike[scored], None if identities is None else identities[scored]
    fold = deal_folds(alike, identities) if folds is None else as_labels(folds, len(pairs), "folds")[scored]
    distinct = np.unique(pairs.min(axis=1) * len(matrix) + pairs.max(axis=1))
    repeated = len(pairs) - len(distinct)
    return _Scored(scores[scored], scored, alike, identities, fold, int((~scored).sum()), repeated)


def pair_scores(embeddings: Values, pairs: Values) -> tuple[Floats, Bools]:
    """The cosine of each of the `pairs` (P×2) of `embeddings` (N×D), in steps of 2⁻²⁴, and which pairs have one.

    A zero vector has no direction, so its pairs have no cosine. `InputError` says what does not fit.

    >>> pair_scores([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[0, 1], [0, 2]])[1].tolist()
    [True, False]
    """
    unit, has_direction = unit_rows(as_matrix(embeddings, "embeddings"))
    pairs = as_pairs(pairs, len(unit))
    cosines = np.empty(len(pairs))
    for start in range(0, len(pairs), 2**14):
        part = pairs[start : start + 2**14]
        cosines[start : start + 2**14] = np.einsum("pd,pd->p", unit[part[:, 0]], unit[part[:, 1]])
    return on_grid(cosines), has_direction[pairs[:, 0]] & has_direction[pairs[:, 1]]


def as_pairs(values: Values, n_embeddings: int) -> Ints:
    """P×2 positions of embeddings, each within range and no embedding paired with itself."""
    pairs = as_array(values)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise InputError(f"pairs must be whole numbers, P×2, got {pairs.dtype} of shape {pairs.shape}")
    wrong = np.flatnonzero(((pairs < 0) | (pairs >= n_embeddings)).any(axis=1))
    if len(wrong):
        raise InputError(f"pair {wrong[0]} is {pairs[wrong[0]].tolist()} of {n_embeddings} embeddings")
    itself = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(itself):
        raise InputError(f"pair {itself[0]} compares embedding {pairs[itself[0], 0]} with itself")
    return pairs.astype(np.int64)


def _which_are_same(same: Values | None, identities: Ints | None, n_pairs: int) -> Bools:
    if same is not None:
        given = as_array(same)
        if given.shape != (n_pairs,) or not np.isin(given, (0, 1)).all():
            raise InputError(f"same must be {n_pairs} booleans, got {given.dtype} of shape {given.shape}")
        return given.astype(np.bool_)
    if identities is None:
        raise InputError("verification needs labels or same to know which pairs are of one identity")
    alike: Bools = identities[:, 0] == identities[:, 1]
    return alike
