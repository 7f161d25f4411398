"""Computes metrics from the arrays that training stores; the runner and `score` both use it.

Names of the stored arrays: `test/embeddings`, `test/labels`, `test/pairs`, `test/same`, `test/fold`, `test/logits`
(closed sets), `test/clusters` (identities unknown), `test/seen` (test people in training), the same under `val/` and
under the name of each test set where there are several, `weight`, `bias`,
`posterior`, `train/centres`, `train/counts`, `train/mean_angles`, `train/mean_posteriors` (losses that define a
posterior).
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import safetensors.numpy

from benchmark.metrics import MEASURES, Measure
from benchmark.metrics._registry import OF_CLASSES, OF_SPLIT

Inputs = dict[str, np.ndarray]
NAMES = {"folds": "fold", "centres": "train/centres", "class_counts": "train/counts"}
NAMES |= {name: f"train/{name}" for name in ("mean_angles", "mean_posteriors")}
"""Of arrays that are not stored under the name by which measures take them."""


@dataclass
class Scores:
    """The metrics of a run; a diverged run has none."""

    metrics: dict[str, float | int | None] = field(default_factory=dict)  # by keys such as test/eer
    versions: dict[str, int] = field(default_factory=dict)  # versions of the measures that computed them
    jackknife: dict[str, np.ndarray] = field(default_factory=dict)  # test metrics without each identity in turn

    def files(self, diverged_at: int | None = None, diverged_reason: str = "") -> dict[str, bytes]:
        """As a run stores them."""
        content = {"metrics": self.metrics, "versions": self.versions}
        content |= {"diverged_at": diverged_at, "diverged_reason": diverged_reason}
        text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"
        arrays = {name: np.ascontiguousarray(self.jackknife[name]) for name in sorted(self.jackknife)}
        return {"metrics.json": text.encode(), "jackknife.safetensors": safetensors.numpy.save(arrays)}


def score(
    arrays: Mapping[str, np.ndarray], measures: Collection[Measure] | None = None, jackknife: bool = True
) -> Scores:
    """Computes every metric of a run, or those of the given measures."""
    found = Scores()
    for measure in MEASURES.items().values() if measures is None else measures:
        for split, inputs in _where(measure, arrays):
            prefix = f"{split}/" if split else ""
            found.metrics |= {f"{prefix}{key}": _plain(value) for key, value in measure(inputs).items()}
            found.versions[measure.name] = measure.version
            if jackknife and split in test_sets(arrays):
                without = measure.without_each_identity(inputs)
                found.jackknife |= {f"{prefix}{key}": np.asarray(values) for key, values in without.items()}
    return found


def outdated(versions: Mapping[str, int], names: Collection[str]) -> list[Measure]:
    """The measures that a run with these arrays lacks, or has from another version."""
    known = dict.fromkeys(names, np.empty(0))
    return [
        measure
        for name, measure in MEASURES.items().items()
        if versions.get(name) != measure.version and any(True for _ in _where(measure, known))
    ]


def test_sets(names: Iterable[str]) -> list[str]:
    """The test sets of a run with arrays of these names."""
    splits = (name.rpartition("/")[0] for name in names if name.endswith("/embeddings"))
    return sorted(split for split in splits if split not in ("train", "val"))


def _where(measure: Measure, arrays: Mapping[str, np.ndarray]) -> Iterator[tuple[str, Inputs]]:
    """The splits that have all arrays that a measure needs, with these arrays."""
    for split in measure.on(test_sets(arrays)):
        inputs = _inputs(split, arrays)
        if measure.fits(inputs):
            yield split, inputs


def _inputs(split: str, arrays: Mapping[str, np.ndarray]) -> Inputs:
    """The arrays of a split under the names that measures use. Arrays of the classes are included only if the split
    has the training classes, that is, if it has logits."""
    names = {name: f"{split}/{NAMES.get(name, name)}" for name in OF_SPLIT}
    if split in ("", "train") or f"{split}/logits" in arrays:
        names |= {name: NAMES.get(name, name) for name in OF_CLASSES}
    return {name: arrays[stored] for name, stored in names.items() if stored in arrays}


def _plain(value: Any) -> float | int | None:
    if value is None or isinstance(value, int):
        return value
    return float(value) if np.isfinite(value) else None
