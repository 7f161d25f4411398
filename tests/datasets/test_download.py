"""Downloading happens when it is asked for, through torchvision, and not otherwise."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import datasets
from datasets.cifar10 import Cifar10


def test_mnist(made_up_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fetch(root: str, *, download: bool) -> None:
        calls.append((root, download))
        shutil.copytree(made_up_root / "MNIST", Path(root) / "MNIST")

    fetch.resources = []  # type: ignore[attr-defined]
    fake = SimpleNamespace(datasets=SimpleNamespace(MNIST=fetch))
    monkeypatch.setattr("datasets._mnist_family.ensure_torchvision", lambda: fake)
    with pytest.raises(FileNotFoundError):
        datasets.load("mnist", tmp_path)
    assert calls == []
    for _ in range(2):  # what is there is not fetched again
        assert datasets.load("mnist", tmp_path, download=True).num_classes == 10
    assert calls == [(str(tmp_path), True)]


def test_cifar_archive(made_up_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "made.tar.gz"
    with tarfile.open(made, "w:gz") as archive:
        archive.add(made_up_root / Cifar10.folder, arcname=Cifar10.folder)
    monkeypatch.setattr(Cifar10, "md5", hashlib.md5(made.read_bytes()).hexdigest())

    def download_url(url: str, root: str, *, md5: str) -> None:
        assert md5 == Cifar10.md5
        shutil.copy(made, Path(root) / url.rpartition("/")[2])

    fake = SimpleNamespace(datasets=SimpleNamespace(utils=SimpleNamespace(download_url=download_url)))
    monkeypatch.setattr("datasets._cifar.ensure_torchvision", lambda: fake)
    data = datasets.load("cifar10", tmp_path, download=True)
    assert data.digest == datasets.load("cifar10", made_up_root).digest
