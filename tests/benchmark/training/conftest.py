"""Small data and short cells, and a way to see what a loss is shown."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import datasets
import losses
from benchmark.cell import Cell
from benchmark.recipe import Recipe
from datasets import Data

torch.set_num_threads(1)

MakeCell = Callable[..., Cell]


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Data:
    folder = tmp_path_factory.mktemp("data")
    return datasets.load("digits", folder, cache=folder)


@pytest.fixture(scope="session")
def make_cell() -> MakeCell:
    """A cell of two short epochs on digits; keywords go to the recipe or to the cell."""

    def make(loss: str = "arcface", hyper: dict[str, Any] | None = None, seed: int = 0, **recipe: Any) -> Cell:
        settings = {"epochs": 2, "lr": 0.1, "batch": 128, "augmentation": "shift"} | recipe
        dataset = {"name": "digits", "options": {}, "wrappers": [], "seed": 0}
        return Cell(dataset, "convnet", 16, Recipe(**settings), loss, hyper or {}, seed)

    return make


class Shown:
    """What heads were given: embeddings, labels and sample numbers, step by step."""

    def __init__(self) -> None:
        self.embeddings: list[Tensor] = []
        self.labels: list[Tensor] = []
        self.index: list[Tensor] = []


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Shown]]:
    """Call it to begin a new record."""
    records: list[Shown] = []
    forward = losses.Head.forward

    def recording(head: losses.Head, embeddings: Tensor, labels: Tensor, index: Tensor | None = None) -> Tensor:
        if records:
            records[-1].embeddings.append(embeddings.detach().clone())
            records[-1].labels.append(labels.clone())
            records[-1].index.append(torch.empty(0) if index is None else index.clone())
        return forward(head, embeddings, labels, index)

    def begin() -> Shown:
        records.append(Shown())
        return records[-1]

    monkeypatch.setattr(losses.Head, "forward", recording)
    return begin


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tmp_path / "cell" / "checkpoint.safetensors"
