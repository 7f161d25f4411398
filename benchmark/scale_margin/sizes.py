"""The sizes of the training sets of an experiment, from its stored runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmark.results import ExperimentResults
from benchmark.store import Run


@dataclass(frozen=True)
class Sizes:
    classes: int  # in training
    images_per_class: float | None  # mean; None if every run diverged
    dim: int  # of the embedding
    protocol: str  # closed or open; empty if every run diverged


def training_sizes(collected: ExperimentResults) -> dict[str, Sizes]:
    """By dataset, if possible from a run that did not diverge."""
    found: dict[str, Sizes] = {}
    for run, dataset in zip(collected.runs, collected.table["dataset"], strict=True):
        if str(dataset) not in found or found[str(dataset)].images_per_class is None:
            found[str(dataset)] = _sizes(run)
    return found


def classes_of(sizes: Mapping[str, Sizes]) -> dict[str, int]:
    return {dataset: one.classes for dataset, one in sizes.items()}


def _sizes(run: Run) -> Sizes:
    shapes, counts = run.shapes(), run.arrays("train/counts")
    classes, dim = shapes["weight"]
    if not counts:
        return Sizes(classes, None, dim, "")
    protocol = "closed" if "test/logits" in shapes else "open"
    return Sizes(classes, float(counts["train/counts"].mean()), dim, protocol)
