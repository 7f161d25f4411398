"""Ids name results on disk: a change of one throws results away, so none may change unnoticed."""

from dataclasses import replace

import pytest

from benchmark import cell as cells
from benchmark.cell import Cell, Resources
from benchmark.recipe import Recipe, whole

TEXT = """
seeds: [3]
datasets: {glyphs: {classes: 100}, wrappers: [{longtail: {ratio: 50}}]}
backbone: resnet20
dim: 32
recipe: {lr: 1e-2, epochs: 4, schedule: step, milestones: [0.5, 0.75]}
losses: {arcface: {s: 16, m: 0.3}}
"""
KNOWN_ID = "f25d36437efdf467"
DIGESTS = ("data digest", "loss digest", "backbone digest")


@pytest.fixture
def cell(load) -> Cell:
    (only,) = load(TEXT).cells()
    return only


def test_the_id_of_a_known_cell_stays(cell: Cell) -> None:
    assert cell.id(*DIGESTS) == KNOWN_ID


def test_the_cell_is_what_the_file_says(cell: Cell) -> None:
    assert cell == Cell(
        dataset={
            "name": "glyphs",
            "options": {"classes": 100, "per_class": 20, "eval_per_class": 20, "size": 28},
            "wrappers": [{"longtail": {"ratio": 50.0, "at_least": 2}}],
            "seed": 0,
        },
        backbone="resnet20",
        dim=32,
        recipe=Recipe(lr=0.01, epochs=4, schedule="step", milestones=(0.5, 0.75)),
        loss="arcface",
        hyper={"s": 16.0, "m": 0.3},
        seed=3,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[3]", "[4]"),
        ("classes: 100", "classes: 101"),
        ("ratio: 50", "ratio: 51"),
        ("wrappers: [{longtail: {ratio: 50}}]", "wrappers: []"),
        ("wrappers:", "split_seed: 1, wrappers:"),
        ("resnet20", "resnet18"),
        ("dim: 32", "dim: 33"),
        ("lr: 1e-2", "lr: 2e-2"),
        ("epochs: 4", "epochs: 4, momentum: 0.8"),
        ("epochs: 4", "epochs: 4, optimiser: muon"),
        ("epochs: 4", "epochs: 4, weight_decay: 0"),
        ("epochs: 4", "epochs: 4, warmup: 0"),
        ("epochs: 4", "epochs: 5"),
        ("epochs: 4", "epochs: 4, batch: 64"),
        ("epochs: 4", "epochs: 4, augmentation: flip"),
        ("epochs: 4", "epochs: 4, label_smoothing: 0.1"),
        ("epochs: 4", "epochs: 4, pixel_mean: 0.5"),
        ("epochs: 4", "epochs: 4, pixel_std: [0.2, 0.3, 0.4]"),
        ("epochs: 4", "epochs: 4, channel_order: bgr"),
        ("epochs: 4", "epochs: 4, flip_test: true"),
        ("0.75", "0.8"),
        ("arcface: {s: 16, m: 0.3}", "cosface: {s: 16, m: 0.3}"),
        ("s: 16", "s: 17"),
    ],
)
def test_any_other_part_makes_another_id(load, cell: Cell, old: str, new: str) -> None:
    assert old in TEXT
    (other,) = load(TEXT.replace(old, new)).cells()
    assert other.id(*DIGESTS) != cell.id(*DIGESTS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("m: 0.3}}", "m: 0.3}, label: mine}"),
        ("wrappers:", "label: mine, wrappers:"),
        ("seeds:", "description: Words.\nbaseline: arcface\nname: other\nseeds:"),
        ("classes: 100", "classes: 100, size: 28"),
        ("{s: 16, m: 0.3}", "{m: 3e-1, s: 16.0}"),
        ("{s: 16, m: 0.3}", "{s: 16, m: 0.3, beyond: linear}"),
        ("lr: 1e-2", "lr: 0.01, momentum: 0.9"),
        ("lr: 1e-2", "lr: 0.01, channel_order: rgb, flip_test: false"),
    ],
)
def test_labels_order_and_defaults_written_out_do_not(load, cell: Cell, old: str, new: str) -> None:
    assert old in TEXT
    (same,) = load(TEXT.replace(old, new)).cells()
    assert same.id(*DIGESTS) == cell.id(*DIGESTS)


def test_digests_and_protocol_are_part_of_the_id(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    data, loss, backbone = DIGESTS
    others = [("other", loss, backbone), (data, "other", backbone), (data, loss, "other"), (data, backbone, loss)]
    ids = {cell.id(*digests) for digests in (DIGESTS, *others)}
    monkeypatch.setattr(cells, "PROTOCOL_VERSION", cells.PROTOCOL_VERSION + 1)
    assert len({*ids, cell.id(*DIGESTS)}) == 6


def test_a_label_alone_makes_no_other_cell(cell: Cell) -> None:
    assert replace(cell, label="x", dataset_label="y") == cell
    assert set(cell.description()) == {"dataset", "backbone", "dim", "recipe", "loss", "hyper", "seed"}


def test_keys_that_came_later_are_described_only_where_they_differ(cell: Cell) -> None:
    first = {"optimiser", "lr", "momentum", "weight_decay", "schedule", "warmup", "milestones", "epochs", "batch"}
    first |= {"augmentation", "label_smoothing"}
    assert cell.description()["recipe"].keys() == first
    other = replace(cell.recipe, flip_test=True, pixel_mean=(0.5,))
    assert other.description().keys() == first | {"flip_test", "pixel_mean"}
    assert Recipe(**whole(other.description())) == other
    assert Recipe(**whole(cell.recipe.description())) == cell.recipe


def test_how_data_is_fetched_reaches_the_cell_but_not_its_id(load) -> None:
    text = "seeds: 1\nlosses: softmax\ndatasets: {mnist: {download: %s, val_share: 0.2}}\n"
    (fetched,), (found,) = load(text % "true").cells(), load(text % "false").cells()
    assert (fetched.access, found.access) == ({"download": True}, {"download": False})
    assert fetched.id(*DIGESTS) == found.id(*DIGESTS)
    assert fetched.dataset_label == "mnist val_share=0.2"


def test_what_a_cell_asks_a_cluster_for_reaches_it_but_not_its_id(load, cell: Cell) -> None:
    (asking,) = load(f"{TEXT}resources: {{cpus: 2, gpus: 0.25}}\n").cells()
    assert asking.resources == Resources(cpus=2.0, gpus=0.25)
    assert cell.resources == Resources(cpus=1.0, gpus=1.0)
    assert asking == cell
    assert asking.id(*DIGESTS) == cell.id(*DIGESTS)
