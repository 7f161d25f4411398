"""How large the training sets of an experiment's datasets are, read from its stored runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from safetensors import safe_open

from benchmark.results import ExperimentResults
from benchmark.store import Run


@dataclass(frozen=True)
class Sizes:
    classes: int  # in training
    images_per_class: float | None  # in the mean; None if every run diverged
    dim: int  # of the embedding
    protocol: str  # closed or open; empty if every run diverged


def training_sizes(collected: ExperimentResults) -> dict[str, Sizes]:
    """By dataset, from a run that did not diverge where there is one."""
    found: dict[str, Sizes] = {}
    for run, dataset in zip(collected.runs, collected.table["dataset"], strict=True):
        if str(dataset) not in found or found[str(dataset)].images_per_class is None:
            found[str(dataset)] = _sizes(run)
    return found


def classes_of(sizes: Mapping[str, Sizes]) -> dict[str, int]:
    return {dataset: one.classes for dataset, one in sizes.items()}


def _sizes(run: Run) -> Sizes:
    with safe_open(run.folder / "embeddings.safetensors", framework="numpy") as arrays:
        names = set(arrays.keys())
        classes, dim = arrays.get_slice("weight").get_shape()
        if "train/counts" not in names:
            return Sizes(int(classes), None, int(dim), "")
        counts = arrays.get_tensor("train/counts")
        protocol = "closed" if "test/logits" in names else "open"
        return Sizes(int(classes), float(counts.mean()), int(dim), protocol)
