"""Verification without people seen in training: where test people have names that training classes have too."""

from collections.abc import Mapping
from typing import Any

from benchmark.metrics._inputs import Floats, Measured, Values, as_array
from benchmark.metrics._registry import Metric, count, measure
from benchmark.metrics.verification import verification, verification_jackknife

_KEYS = ("accuracy", "eer", "auc")


def unseen_jackknife(
    embeddings: Values, labels: Values, pairs: Values, same: Values, folds: Values, seen: Values
) -> dict[str, Floats]:
    """The metrics of `verification_of_unseen` without each of the people that are left."""
    return _renamed(verification_jackknife(embeddings, labels, *_of_unseen(pairs, same, folds, seen)))


@measure(
    Metric(
        "accuracy_unseen",
        "Accuracy without people seen in training",
        "verification accuracy on test pairs of people that training has not seen",
        place=21,
    ),
    Metric(
        "eer_unseen",
        "EER without people seen in training",
        "EER on test pairs of people that training has not seen",
        better="lower",
        place=31,
    ),
    Metric(
        "auc_unseen",
        "AUC without people seen in training",
        "AUC on test pairs of people that training has not seen",
        unit="",
        decimals=4,
        place=41,
    ),
    count("n_unseen_pairs", "Pairs of unseen people", "test pairs without a person that training has seen"),
    splits=("test",),
    jackknife=unseen_jackknife,
)
def verification_of_unseen(
    embeddings: Values, labels: Values, pairs: Values, same: Values, folds: Values, seen: Values
) -> Measured:
    """As `verification`, of the pairs of which neither image is `seen` (N): of a person that is trained on."""
    kept = _of_unseen(pairs, same, folds, seen)
    return {**_renamed(verification(embeddings, labels, *kept)), "n_unseen_pairs": len(kept[0])}


def _of_unseen(pairs: Values, same: Values, folds: Values, seen: Values) -> tuple[Any, Any, Any]:
    pairs = as_array(pairs)
    kept = ~as_array(seen).astype(bool)[pairs].any(axis=1)
    return pairs[kept], as_array(same)[kept], as_array(folds)[kept]


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{key}_unseen": values[key] for key in _KEYS if key in values}
