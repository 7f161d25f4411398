from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark import papers
from benchmark.papers import Paper

PAPER = """\
title: A paper
claim: One is better than the other.
sources:
  own: {paper: A. Author, table: Table 1, link: https://example.org/paper}
  quoted: {paper: B. Other, link: https://example.org/other, second_hand: true}
setting: {train: mnist, net: A large net, dim: 512, lr: 0.1, batch: 512, kept: the best on the test set}
columns:
  - {name: MNIST, data: mnist}
  - {name: Faces, data: faces}
  - {name: Context, data: mnist, other_loss: another}
rows:
  - label: plain
    hyper: {s: 64}
    published: [{source: own, values: {MNIST: 98.0, Faces: 90.0, Context: 97.0}}]
  - label: margin
    hyper: {s: 64, m: 0.5}
    published:
      - {source: own, values: {MNIST: [99.0, 99.2]}}
      - {source: quoted, values: {Faces: 95.0}}
  - label: quoted only
    unmeasured: it is another suite's
    published: [{source: quoted, values: {MNIST: 97.5}}]
effects: [[margin, plain]]
scales:
  smoke: &scale
    measured:
      - {name: on MNIST, dataset: mnist, metric: test/classification_accuracy, beside: [MNIST, Context]}
      - {name: on digits, dataset: digits, metric: test/accuracy, beside: [Faces]}
    experiment:
      seeds: 5
      datasets: [mnist, digits]
      losses:
        - {normface: {s: 16}, label: plain}
        - {arcface: {s: auto}, label: margin}
  cpu: *scale
  full: *scale
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Paper]:
    """Loads a paper from its text, as the file `mine.yaml`."""

    def load_text(text: str) -> Paper:
        path = tmp_path / "mine.yaml"
        path.write_bytes(text.encode())
        return papers.load(path)

    return load_text


@pytest.fixture
def paper(load: Callable[[str], Paper]) -> Paper:
    return load(PAPER)


def runs(values: dict[tuple[str, str], list[float]], metrics: dict[str, str]) -> pd.DataFrame:
    """A tidy frame: `values` by loss and dataset, a value per seed; `metrics` the metric of each dataset."""
    rows = [
        {"loss": loss, "dataset": dataset, "seed": seed, metrics[dataset]: value}
        for (loss, dataset), given in values.items()
        for seed, value in enumerate(given)
    ]
    return pd.DataFrame(rows)


METRICS = {"mnist": "test/classification_accuracy", "digits": "test/accuracy"}


@pytest.fixture
def frame() -> pd.DataFrame:
    """margin is .01 better on mnist in every seed, give or take, and no different on digits."""
    noise = np.array([0.001, -0.001, 0.002, -0.002, 0.0])
    return runs(
        {
            ("plain", "mnist"): list(0.97 + noise),
            ("margin", "mnist"): list(0.98 + noise[::-1]),
            ("plain", "digits"): list(0.9 + noise),
            ("margin", "digits"): list(0.9 + 2 * noise[::-1]),
        },
        METRICS,
    )
