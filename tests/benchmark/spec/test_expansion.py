from itertools import product
from pathlib import Path

import pytest

import losses
from benchmark.plugins import load_plugin
from losses import _registry


def test_a_file_with_two_keys_gets_the_usual_rest(load) -> None:
    experiment = load("datasets: digits\nlosses: softmax\n")
    assert experiment.name == "mine"
    assert [cell.seed for cell in experiment.cells()] == [0, 1, 2, 3, 4]
    assert {(cell.backbone, cell.dim) for cell in experiment.cells()} == {("convnet", 64)}


def test_lists_are_grids(load) -> None:
    text = """
    seeds: [7, 9]
    datasets: [digits]
    backbone: [convnet, resnet20]
    dim: [2, 64]
    recipe: {lr: [0.1, 1e-2], optimiser: [sgd, muon, adamw], batch: 64}
    losses: {arcface: {s: [16, 32], m: [0.3, 0.5]}}
    """
    found = [
        (c.seed, c.backbone, c.dim, c.recipe.optimiser, c.recipe.lr, c.hyper["s"], c.hyper.get("m", 0.5))
        for c in load(text).cells()
    ]
    wanted = product(
        [7, 9], ["convnet", "resnet20"], [2, 64], ["sgd", "muon", "adamw"], [0.1, 0.01], [16.0, 32.0], [0.3, 0.5]
    )
    assert found == list(wanted)


def test_a_list_of_lists_of_milestones_is_a_grid_and_other_schedules_have_none(load) -> None:
    text = "datasets: digits\nlosses: softmax\nseeds: 1\nrecipe: {schedule: [cosine, step], milestones: %s}"
    recipes = [cell.recipe for cell in load(text % "[[0.5], [0.5, 0.8]]").cells()]
    assert [(r.schedule, r.milestones) for r in recipes] == [("cosine", ()), ("step", (0.5,)), ("step", (0.5, 0.8))]
    recipes = [cell.recipe for cell in load(text % "[0.5, 0.8]").cells()]
    assert [r.milestones for r in recipes] == [(), (0.5, 0.8)]


def test_a_dataset_may_be_trained_with_some_losses_only(load) -> None:
    """A label names its row alone, a loss's name all rows of it."""
    text = """
    seeds: 2
    datasets:
      - digits
      - glyphs:
        label: few
        losses: [adacos, arcface m=0.3]
      - mnist:
        losses: arcface
    losses:
      - adacos
      - arcface: {m: [0.3, 0.5]}
    """
    experiment = load(text)
    found = {(cell.dataset_label, cell.label) for cell in experiment.cells()}
    assert found == {
        *(("digits", label) for label in ("adacos", "arcface m=0.3", "arcface m=0.5")),
        *(("few", label) for label in ("adacos", "arcface m=0.3")),
        *(("mnist", label) for label in ("arcface m=0.3", "arcface m=0.5")),
    }
    assert len(experiment.cells()) == 2 * len(found)
    assert {cell.label for cell in experiment.cells(datasets=["few"], losses=["arcface"])} == {"arcface m=0.3"}
    twin = load(text.replace("- adacos\n", "- adaacos\n      - adaacos: {s: 6}\n").replace("[adacos,", "[adaacos,"))
    assert [cell.label for cell in twin.cells(datasets=["few"], seeds=[0])] == ["adaacos", "arcface m=0.3"]


def test_a_dataset_may_train_otherwise(load) -> None:
    text = """
    seeds: 1
    datasets:
      - digits
      - glyphs: {classes: 10}
        backbone: resnet20
        dim: [8, 16]
        recipe: {epochs: 3}
    recipe: {lr: 0.5, epochs: 9}
    losses: softmax
    """
    found = [(c.dataset["name"], c.backbone, c.dim, c.recipe.epochs, c.recipe.lr) for c in load(text).cells()]
    assert found == [
        ("digits", "convnet", 64, 9, 0.5),
        ("glyphs", "resnet20", 8, 3, 0.5),
        ("glyphs", "resnet20", 16, 3, 0.5),
    ]


def test_a_dataset_may_leave_the_schedule_that_the_milestones_are_for(load) -> None:
    text = """
    seeds: 1
    datasets: [digits, {mnist: {}, recipe: {schedule: cosine}}]
    recipe: {schedule: step, milestones: [0.5]}
    losses: softmax
    """
    assert [cell.recipe.milestones for cell in load(text).cells()] == [(0.5,), ()]


def test_hyper_changes_named_losses_and_an_entry_has_the_last_word(load) -> None:
    text = """
    seeds: 1
    datasets: digits
    losses: [all, {arcface: {m: 0.1}}]
    hyper: {arcface: {s: 32, m: 0.3}, cosface: {s: [8, 16]}}
    """
    by_label = {cell.label: dict(cell.hyper) for cell in load(text).cells()}
    assert by_label["arcface s=32 m=0.3"] == {"s": 32.0, "m": 0.3}
    assert by_label["arcface s=32 m=0.1"] == {"s": 32.0, "m": 0.1}
    assert by_label["cosface s=16"] == {"s": 16.0}
    assert by_label["softmax"] == {}
    assert len(by_label) == len(losses.names()) + 2


def test_all_has_losses_of_plug_ins(load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses.names()
    monkeypatch.setattr(_registry, "_losses", dict(_registry._losses))
    plugin = tmp_path / "own.py"
    plugin.write_text("from losses.softmax import Softmax\n\nclass Own(Softmax):\n    name = 'own'\n")
    load_plugin(plugin)
    cells = load("datasets: digits\nlosses: all\nseeds: 1\n").cells()
    assert "own" in [cell.loss for cell in cells]


def test_the_same_cell_comes_once_and_keeps_its_first_label(load) -> None:
    text = """
    seeds: [1, 1]
    datasets: [digits, {digits: {test_share: 0.25}, label: again}]
    dim: [4, 4]
    recipe: {lr: [0.1, 0.1]}
    losses: [{arcface: {m: [0.5, 0.5]}}, arcface, {arcface: {s: 64.0}}]
    """
    experiment = load(text)
    (cell,) = experiment.cells()
    assert (cell.label, cell.dataset_label) == ("arcface m=0.5", "digits")
    assert experiment.seeds == (1,)


def test_every_seed_sees_all_datasets_before_the_next_begins(load) -> None:
    text = "datasets: [digits, mnist]\nlosses: [softmax, normface]\nseeds: 2\n"
    found = [(cell.seed, cell.dataset["name"], cell.loss) for cell in load(text).cells()]
    assert found == list(product([0, 1], ["digits", "mnist"], ["softmax", "normface"]))


def test_expansion_reads_no_data(load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.digits.Digits.build", lambda *_: pytest.fail("data was read"))
    assert load("datasets: digits\nlosses: all\n").cells()


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ("[arcface]", ["arcface"]),
        ("[{arcface: {m: 0.30, s: 16}}]", ["arcface m=0.3 s=16"]),
        ("[{arcface: {s: auto}}]", ["arcface s=auto"]),
        ("[{arcgrad: {gap: 1e-7}}]", ["arcgrad gap=1e-07"]),
        ("[{arcface: {m: [0.3, 0.30000001]}}]", ["arcface m=0.3", "arcface m=0.30000001"]),
        ("[{arcface: {m: 0.5}, label: of the paper}]", ["of the paper"]),
        ("[{arcface: {m: [0.2, 0.4], s: 16}, label: ours}]", ["ours m=0.2", "ours m=0.4"]),
    ],
)
def test_labels_of_losses(load, given: str, labels: list[str]) -> None:
    cells = load(f"datasets: digits\nseeds: 1\nlosses: {given}\n").cells()
    assert [cell.label for cell in cells] == labels


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("digits", "digits"),
        ("{glyphs: {classes: 300}}", "glyphs classes=300"),
        ("{glyphs: {}, split_seed: 2}", "glyphs split_seed=2"),
        ("{digits: {}, wrappers: [{longtail: {ratio: 5}}, subset]}", "digits + longtail ratio=5 + subset"),
        ("{digits: {}, label: mine}", "mine"),
    ],
)
def test_labels_of_datasets(load, given: str, label: str) -> None:
    (cell,) = load(f"datasets: [{given}]\nseeds: 1\nlosses: softmax\n").cells()
    assert cell.dataset_label == label


@pytest.mark.parametrize(
    ("text", "baseline"),
    [
        ("losses: [softmax, {normface: {s: 16}}]", "normface s=16"),
        ("losses: [softmax, arcface]", "softmax"),
        ("losses: [softmax, {normface: {s: [8, 16]}}]", "softmax"),
        ("losses: [softmax, {arcface: {m: 0.3}}]\nbaseline: arcface", "arcface m=0.3"),
        ("losses: [softmax, {arcface: {m: 0.3}, label: ours}]\nbaseline: ours", "ours"),
    ],
)
def test_the_baseline_is_the_label_of_a_row(load, text: str, baseline: str) -> None:
    assert load(f"datasets: digits\n{text}\n").baseline == baseline


FILTERED = """
seeds: [0, 1, 5]
datasets: [digits, {digits: {}, wrappers: [label_noise], label: noisy}]
losses: [softmax, {arcface: {m: [0.1, 0.2]}}]
"""


def test_filters_take_names_and_labels(load) -> None:
    experiment = load(FILTERED)
    assert len(experiment.cells()) == 18
    assert {cell.label for cell in experiment.cells(losses=["arcface"])} == {"arcface m=0.1", "arcface m=0.2"}
    assert {cell.label for cell in experiment.cells(losses=["arcface m=0.2"])} == {"arcface m=0.2"}
    assert {cell.dataset_label for cell in experiment.cells(datasets=["noisy"])} == {"noisy"}
    assert [cell.seed for cell in experiment.cells(["softmax"], ["noisy"], [5, 0])] == [0, 5]
    assert experiment.cells(losses=[]) == []


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"losses": ["arcfase"]}, "no loss in mine named 'arcfase'; did you mean 'arcface'?"),
        ({"losses": ["cosface"]}, "no loss in mine named 'cosface'"),
        ({"datasets": ["nosy"]}, "no dataset in mine named 'nosy'; did you mean 'noisy'?"),
        ({"seeds": [2]}, "no seed 2 in mine (there are 0, 1, 5)"),
    ],
)
def test_a_filter_that_is_unknown_is_named_with_the_nearest(load, filters, words: str) -> None:
    with pytest.raises(ValueError, match="there is no") as caught:
        load(FILTERED).cells(**filters)
    assert words in str(caught.value)


def test_a_list_of_numbers_is_one_normalisation(load) -> None:
    text = "datasets: digits\nlosses: softmax\nseeds: 1\nrecipe: {pixel_mean: %s, flip_test: [false, true]}"
    for written, values in {
        "0.5": [(0.5,)],
        "[0.4, 0.5, 0.6]": [(0.4, 0.5, 0.6)],
        "[[0], [0.4, 0.5, 0.6]]": [(0.0,), (0.4, 0.5, 0.6)],
    }.items():
        found = [(cell.recipe.pixel_mean, cell.recipe.flip_test) for cell in load(text % written).cells()]
        assert found == [(value, flip) for value in values for flip in (False, True)]
