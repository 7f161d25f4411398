"""The page of the datasets: what each one is, what is trained and tested on, and example images."""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

import datasets
from benchmark.leaderboard.entries import Result
from benchmark.leaderboard.standings import Board
from benchmark.pages import Facts, render
from benchmark.spec.values import with_settings
from benchmark.text import counted
from datasets import Data, Split
from datasets._dataset import DATASETS

PROTOCOLS = {
    "closed": "Closed set. The test images show the classes that were trained on, and the net names the class.",
    "open": "Open set. The test classes never occur in training; the net says whether two images show the same class.",
}
CLASSES, PER_CLASS = 10, 4  # of the example images
TILE = 44  # pixels, about
GAP = 2
LARGEST = 2 * 10**8  # training pixels: more would take minutes to load


@dataclass(frozen=True)
class Examples:
    """Example images as one PNG."""

    png: bytes
    size: tuple[int, int]
    caption: str

    @property
    def source(self) -> str:
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


@dataclass(frozen=True)
class ShownDataset:
    label: str
    summary: str
    facts: Facts
    examples: Examples | None
    reason: str  # why there are no examples


def dataset_page(board: Board | None, draw: bool) -> bytes:
    """With `draw` the data is loaded, and the page shows counts and example images."""
    shown = [] if board is None else [_shown(result, board, draw) for result in results_of(board)]
    return render(Path(__file__).parent, "datasets.html.j2", here="datasets", up="", datasets=shown)


def results_of(board: Board) -> list[Result]:
    """One result for each dataset of a board; all entries share what the page shows of it."""
    found = {result.label: result for entry in board.entries.values() for result in entry.results}
    return list(found.values())


def summary_of(result: Result) -> str:
    """One sentence about the dataset; nothing where it is unknown here."""
    try:
        return datasets.summary(str(result.dataset.get("name")))
    except datasets.InputError:
        return ""


def _shown(result: Result, board: Board, draw: bool) -> ShownDataset:
    data = None
    reason = "this site was made without pictures"
    if draw:
        data, reason = _loaded(result)
    facts = [*_task(result), *_training(result, data), *_held_out(data), *_settings(result, board)]
    examples = None if data is None else examples_of(data.train)
    return ShownDataset(result.label, summary_of(result), facts, examples, reason)


def _loaded(result: Result) -> tuple[Data | None, str]:
    """The data, or why it is not shown. What a reader of the site sees must not hold this machine's paths."""
    about: Mapping[str, Any] = result.dataset
    try:
        if not DATASETS.get(about["name"]).examples_may_be_shown:
            return None, "the dataset does not allow its images to be shown"
        size = datasets.training_size(about)
        if size is None or size.images * size.pixels > LARGEST:
            return None, "the dataset is too large to load for this page"
        return datasets.load(about["name"], seed=about["seed"], wrappers=about["wrappers"], **about["options"]), ""
    except FileNotFoundError:
        return None, "the data is not on the machine that made this site"
    except datasets.InputError:
        return None, "the dataset is not known on the machine that made this site"


def _task(result: Result) -> Facts:
    try:
        return [("Task", PROTOCOLS[datasets.protocol(result.dataset)])]
    except datasets.InputError:
        return []


def _training(result: Result, data: Data | None) -> Facts:
    if data is not None:
        height, width = data.image_shape[1:]
        return [("Training", f"{_counts(data.train)}, {height}×{width} pixels")]
    try:
        size = datasets.training_size(result.dataset)
    except datasets.InputError:
        size = None
    return [] if size is None else [("Training", f"{counted(size.classes, 'class')}, about {size.images:,.0f} images")]


def _held_out(data: Data | None) -> Facts:
    splits = {} if data is None else {"Validation": data.val, "Test": data.test}
    return [(name, f"{_counts(split)}, {counted(len(split.pairs), 'pair')}") for name, split in splits.items()]


def _counts(split: Split) -> str:
    return f"{counted(len(split.names), 'class')}, {counted(len(split), 'image')}"


def _settings(result: Result, board: Board) -> Facts:
    main = board.findings.main_columns
    recipe = {name: value for name, value in result.recipe.items() if value != []}
    given = result.dataset.get("options")
    options = with_settings("", given).strip() if isinstance(given, Mapping) else ""
    return [
        *([("Main metric", main[result.label].heading)] if result.label in main else []),
        *([("Options", options)] if options else []),
        ("Trained with", with_settings(f"{result.backbone} dim={result.dim}", recipe)),
    ]


def examples_of(split: Split) -> Examples:
    """The first training images of classes spread evenly over the set: nothing is picked by how it looks."""
    several = torch.nonzero(split.class_counts >= PER_CLASS).flatten()
    chosen = several[torch.linspace(0, len(several) - 1, min(CLASSES, len(several))).round().long()].tolist()
    rows = [torch.nonzero(split.labels == label).flatten()[:PER_CLASS] for label in chosen]
    tiles = [[_tile(image) for image in split.images[row].numpy()] for row in rows]
    sheet = np.concatenate([np.concatenate(column) for column in tiles], axis=1)
    file = io.BytesIO()
    Image.fromarray(sheet.squeeze()).save(file, "PNG", optimize=True)
    height, width = sheet.shape[:2]
    caption = f"Training images of {counted(len(chosen), 'class')}, one class in each column."
    return Examples(file.getvalue(), (width, height), caption)


def _tile(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Height × width × channels, enlarged without smoothing, with a grey edge."""
    times = max(1, round(TILE / image.shape[-1]))
    large = image.transpose(1, 2, 0).repeat(times, axis=0).repeat(times, axis=1)
    return np.pad(large, ((GAP, GAP), (GAP, GAP), (0, 0)), constant_values=128)
