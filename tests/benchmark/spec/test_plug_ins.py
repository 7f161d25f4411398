"""An experiment may name a backbone or a dataset that was registered after this project was imported."""

from collections.abc import Iterator

import pytest

import datasets
from benchmark import backbones
from benchmark.backbones._backbone import BACKBONES
from datasets._dataset import DATASETS


@pytest.fixture
def plug_in() -> Iterator[None]:
    class Newcomer(backbones.get("convnet")):  # type: ignore[misc]
        name = "newcomer"
        images_per_second = None

    class Numerals(datasets.Dataset):
        name = "numerals"

        def build(self, place: object, seed: int) -> datasets.Data:
            return datasets.load("digits", seed=seed)

    yield
    for registry in (BACKBONES, DATASETS):
        registry.forget(__name__)


TEXT = "seeds: 1\ndatasets: [{numerals: {}, backbone: newcomer}]\nlosses: [softmax]\n"


def test_they_can_be_named_once_they_are_there(load, refusal, plug_in: None) -> None:
    (cell,) = load(TEXT).cells()
    assert (cell.dataset["name"], cell.backbone) == ("numerals", "newcomer")


def test_without_the_plug_in_they_are_refused_with_the_names_that_there_are(refusal) -> None:
    message = refusal(TEXT)
    assert "there is no dataset 'numerals'" in message
    assert "there is no backbone 'newcomer'" in refusal(TEXT.replace("numerals", "digits"))
