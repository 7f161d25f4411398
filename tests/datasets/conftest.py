"""Places to load from: made-up data in the published layouts, and MARGINBENCH_DATA where that is set."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import datasets
from datasets import Data

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def load_real(cache: Path) -> Callable[..., Data]:
    return loader(Path(os.environ.get("MARGINBENCH_DATA") or cache / "nowhere"), cache)


@pytest.fixture(scope="session")
def load_made_up(made_up_root: Path, cache: Path) -> Callable[..., Data]:
    return loader(made_up_root, cache)


def loader(root: Path, cache: Path) -> Callable[..., Data]:
    def load(name: str, **options: object) -> Data:
        try:
            return datasets.load(name, root, cache=cache, **options)
        except FileNotFoundError as error:
            pytest.skip(str(error))

    return load


@pytest.fixture(scope="session")
def glyphs(cache: Path) -> Data:
    return datasets.load("glyphs", cache, cache=cache)


@pytest.fixture(scope="session")
def made_up_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    for folder in ("MNIST", "FashionMNIST", "KMNIST"):
        write_idx_family(root / folder / "raw", ("train-{}-ubyte", "t10k-{}-ubyte"), 10, 0, rng)
    for part, classes, first in (("balanced", 47, 0), ("letters", 26, 1)):
        names = (f"emnist-{part}-train-{{}}-ubyte", f"emnist-{part}-test-{{}}-ubyte")
        write_idx_family(root / "EMNIST" / "raw", names, classes, first, rng)
    write_cifar(root, rng)
    write_omniglot(root / "omniglot-py", rng)
    write_people(root / "people", rng)
    write_people(root / "others", rng, people=14, first=30)
    return root


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def write_idx_family(folder: Path, names: tuple[str, str], classes: int, first: int, rng: np.random.Generator) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, each in zip(names, (30, 50), strict=True):
        labels = rng.permutation(np.repeat(np.arange(first, first + classes), each))
        images = rng.integers(0, 256, (len(labels), 28, 28))
        (folder / name.format("images-idx3")).write_bytes(idx(images))
        (folder / name.format("labels-idx1")).write_bytes(idx(labels))


def write_cifar(root: Path, rng: np.random.Generator) -> None:
    ten, hundred = root / "cifar-10-batches-bin", root / "cifar-100-binary"
    for folder, classes, coarse, files in (
        (ten, 10, 0, [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]),
        (hundred, 100, 1, ["train.bin", "test.bin"]),
    ):
        folder.mkdir(parents=True)
        for file in files:
            labels = np.repeat(np.arange(classes), 50 if file == "test_batch.bin" else 12)[:, None]
            rows = [np.zeros((len(labels), coarse)), labels, rng.integers(0, 256, (len(labels), 3072))]
            (folder / file).write_bytes(np.concatenate(rows, axis=1).astype(np.uint8).tobytes())
    (ten / "batches.meta.txt").write_text("\n".join(f"kind{n}" for n in range(10)) + "\n\n")
    (hundred / "fine_label_names.txt").write_text("\n".join(f"kind{n}" for n in range(100)) + "\n")


def write_omniglot(folder: Path, rng: np.random.Generator) -> None:
    for part, alphabets in (("images_background", 6), ("images_evaluation", 5)):
        for alphabet in range(alphabets):
            for character in range(5):
                place = folder / part / f"Alphabet{alphabet}" / f"character{character:02d}"
                place.mkdir(parents=True)
                for drawer in range(20):
                    ink = rng.integers(0, 2, (105, 105)).astype(bool)
                    Image.fromarray(ink).save(place / f"{character:04d}_{drawer:02d}.png")


def write_people(folder: Path, rng: np.random.Generator, people: int = 30, each: int = 12, first: int = 0) -> None:
    for person in range(first, first + people):
        place = folder / f"person{person:02d}"
        place.mkdir(parents=True)
        for number in range(1, each + 1):
            pixels = rng.integers(0, 256, (20, 16, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(place / f"{place.name}_{number:04d}.png")
