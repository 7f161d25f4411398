"""From what a run keeps on disk to its metrics; the runner and `score` both go through here.

Names of the kept arrays: `test/embeddings`, `test/labels`, `test/pairs`, `test/same`, `test/fold`, `test/logits`
(closed sets), the same under `val/`, `weight`, `bias`, `train/centres`, `train/counts`, `train/mean_angles`,
`train/mean_posteriors` (losses that define a posterior).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmark import metrics

Figures = dict[str, float | int | None]
SPLITS = ("test", "val")
OF_GROUPS = ("accuracy", "eer", "auc")  # of verification, for frequent, medium and rare classes apart


def figures(arrays: Mapping[str, np.ndarray]) -> Figures:
    """Every metric of a run, by name; names begin with the split that they were measured on."""
    found: Figures = {**_training_geometry(arrays), **_training_posterior(arrays)}
    for split in SPLITS:
        if f"{split}/embeddings" in arrays:
            found.update(_of_split(split, arrays))
    return {name: _plain(value) for name, value in found.items()}


def jackknife(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Test verification without each identity in turn, for intervals that carry the identities' variance."""
    if "test/embeddings" not in arrays:
        return {}
    values = metrics.verification_jackknife(*_verification_input("test", arrays))
    for group, chosen in _pairs_by_frequency("test", arrays).items():
        of_group = metrics.verification_jackknife(*_verification_input("test", arrays, chosen))
        values |= {f"{name}_{group}": of_group[name] for name in OF_GROUPS if name in of_group}
    return {f"jackknife/test/{name}": np.asarray(value) for name, value in values.items()}


def _training_geometry(arrays: Mapping[str, np.ndarray]) -> Figures:
    return metrics.geometry_from_centres(
        arrays["train/centres"],
        arrays["train/counts"],
        arrays["train/mean_angles"],
        arrays["weight"],
        split="train",
    )


def _training_posterior(arrays: Mapping[str, np.ndarray]) -> Figures:
    """The mean over training images of the posterior of their own class, as the head in evaluation gives it."""
    if "train/mean_posteriors" not in arrays:
        return {}
    weights = arrays["train/counts"] / max(arrays["train/counts"].sum(), 1)
    return {"train/posterior": float(arrays["train/mean_posteriors"] @ weights)}


def _of_split(split: str, arrays: Mapping[str, np.ndarray]) -> Figures:
    embeddings, labels = arrays[f"{split}/embeddings"], arrays[f"{split}/labels"]
    found: Figures = {}
    found.update(metrics.verification(*_verification_input(split, arrays)))
    closed = f"{split}/logits" in arrays  # only there are test classes the training classes
    counts = arrays["train/counts"] if closed else None
    if split == "test":
        found.update(metrics.retrieval(embeddings, labels, counts))
        for group, chosen in _pairs_by_frequency(split, arrays).items():
            of_group = metrics.verification(*_verification_input(split, arrays, chosen))
            found.update({f"{name}_{group}": of_group[name] for name in OF_GROUPS})
    if closed:
        logits = arrays[f"{split}/logits"]
        found.update(_renamed(metrics.classification(logits, labels, counts), "classification"))
        found.update(metrics.nearest_class_mean(embeddings, labels, arrays["train/centres"], counts))
        if int(arrays.get("posterior", np.array(1))):
            found.update(metrics.calibration(logits, labels))
    named = {f"{split}/{name}": value for name, value in found.items()}
    return named | dict(metrics.geometry(embeddings, labels, split=split))


def _renamed(found: Figures, family: str) -> Figures:
    """`accuracy` is verification's name; a classifier's figures are told apart by their family."""
    return {f"{family}_{name}": value for name, value in found.items()}


def _verification_input(
    split: str, arrays: Mapping[str, np.ndarray], chosen: np.ndarray | slice = slice(None)
) -> tuple[Any, ...]:
    images = (arrays[f"{split}/{part}"] for part in ("embeddings", "labels"))
    return (*images, *(arrays[f"{split}/{part}"][chosen] for part in ("pairs", "same", "fold")))


def _pairs_by_frequency(split: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Which pairs have an image of a frequent, medium or rare class, in closed sets with classes of several sizes."""
    if f"{split}/logits" not in arrays:
        return {}
    return metrics.pairs_by_frequency(arrays[f"{split}/labels"], arrays[f"{split}/pairs"], arrays["train/counts"])


def _plain(value: float | int | None) -> float | int | None:
    if value is None or isinstance(value, int):
        return value
    return float(value) if np.isfinite(value) else None
