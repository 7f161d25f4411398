"""`--override KEY=VALUE`: what it changes, that it wins everywhere, and how mistakes are told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark import spec
from benchmark.recipe import Recipe
from benchmark.spec import Experiment

FILE = """\
seeds: 3
backbone: resnet20
recipe: {epochs: 5, batch: 32, schedule: step, milestones: [0.5]}
datasets:
  - digits
  - glyphs: {classes: 30}
    label: letters
    dim: 32
    backbone: lenet2d
    recipe: {epochs: 7, lr: 0.5}
losses:
  - normface
  - arcface: {s: 16, m: 0.3}
"""
Load = Callable[..., Experiment]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    path = tmp_path / "mine.yaml"
    path.write_text(FILE)
    return lambda *overrides: spec.load(path, overrides)


def test_it_is_said_and_makes_other_cells(load: Load) -> None:
    changed = load("recipe.epochs=1")
    assert changed.overrides == ("recipe.epochs=1",)
    assert not {str(cell) for cell in load().cells()} & {str(cell) for cell in changed.cells()}
    assert load().overrides == ()


def test_it_wins_over_what_single_datasets_say(load: Load) -> None:
    digits, letters = load("recipe.epochs=1", "backbone=convnet", "dim=8").datasets
    assert [row.recipes[0].epochs for row in (digits, letters)] == [1, 1]
    assert [row.backbones for row in (digits, letters)] == [("convnet",), ("convnet",)]
    assert [row.dims for row in (digits, letters)] == [(8,), (8,)]
    assert letters.recipes[0].lr == 0.5


def test_a_whole_recipe_replaces_all_of_them(load: Load) -> None:
    for row in load("recipe={epochs: 2, lr: 0.25}").datasets:
        assert (row.recipes[0].epochs, row.recipes[0].lr, row.recipes[0].batch) == (2, 0.25, Recipe().batch)


def test_hyper_wins_over_rows(load: Load) -> None:
    arcface = load("hyper.arcface.s=24").losses[1]
    assert arcface.hyper == {"s": 24.0, "m": 0.3}
    assert load("hyper={arcface: {s: 24}}").losses[1].hyper == arcface.hyper
    assert load("hyper.arcface={s: 24}").losses[1].hyper == arcface.hyper


def test_a_later_one_wins(load: Load) -> None:
    assert load("seeds=2", "seeds=[7]").seeds == (7,)
    digits, letters = load("recipe.epochs=1", "datasets.glyphs.classes=20", "datasets.1.recipe.epochs=2").datasets
    assert (digits.recipes[0].epochs, letters.recipes[0].epochs) == (1, 2)
    assert letters.dataset["options"]["classes"] == 20


@pytest.mark.parametrize("key", ["datasets.digits.val_share", "datasets.0.digits.val_share"])
def test_entries_have_names_and_numbers(load: Load, key: str) -> None:
    assert load(f"{key}=0.3").datasets[0].dataset["options"]["val_share"] == 0.3


def test_a_single_entry_without_its_list(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("datasets: {digits: , label: d}\nlosses: arcface\n")
    for number in ("", "0."):
        made = spec.load(path, [f"datasets.{number}digits.val_share=0.3", f"losses.{number}arcface.s=9"])
        assert made.datasets[0].dataset["options"]["val_share"] == 0.3
        assert made.losses[0].hyper == {"s": 9.0}


def test_null_removes_a_key(load: Load) -> None:
    cosine = load("recipe.schedule=cosine", "recipe.milestones=null")
    assert cosine.datasets[0].recipes[0].milestones == ()
    assert load("datasets.1.label=null").datasets[1].label == "glyphs classes=30"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("recipe.epohcs=1", "--override recipe.epohcs=1, recipe.epohcs: there is no key 'epohcs'"),
        ("recipe.epohcs=1", "did you mean 'epochs'?"),
        ("recip.epochs=1", "--override recip.epochs=1, recip: there is no key 'recip'"),
        ("recipe.epochs=many", "--override recipe.epochs=many, recipe.epochs: should be a whole number, not 'many'"),
        ("recipe={epochs: 0}", "--override recipe={epochs: 0}, recipe.epochs: should be greater than or equal to 1"),
        (
            "backbone=convnte",
            "--override backbone=convnte, backbone: there is no backbone 'convnte'; did you mean 'con",
        ),
        ("datasets.gylphs.classes=9", "there is no entry 'gylphs'; did you mean 'glyphs'?"),
        ("datasets.7.label=x", "there is no entry '7'"),
        ("datasets.glyphs.clases=9", "datasets.glyphs.clases: glyphs has no option 'clases'"),
        ("hyper.arcface.q=1", "--override hyper.arcface.q=1, hyper.arcface.q: arcface has no hyper-parameter 'q'"),
        ("recipe.schedule=cosine", "mine.yaml, line 3, recipe.milestones: are for the schedule 'step' only"),
        ("seeds.x=1", "--override seeds.x=1, seeds: is 3, which has no key 'x'"),
        ("seeds", "--override seeds: expected KEY=VALUE, such as recipe.epochs=1"),
        ("seeds=", "expected KEY=VALUE"),
        ("=3", "expected KEY=VALUE"),
        ("a..b=3", "expected KEY=VALUE"),
        ("seeds=[1", "--override seeds=[1, line 1: is not valid YAML"),
        ("seeds=!!python/object:os.system x", "is not allowed; plain values, lists and mappings are"),
    ],
)
def test_mistakes(load: Load, override: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is looked at below)
        load(override)
    assert message in str(caught.value)


def test_tuned_rows_of_other_settings_can_be_left_out() -> None:
    with pytest.raises(ValueError, match="was tuned with other data") as caught:
        spec.load("default", ["recipe.epochs=1"])
    assert "add --override tuned=null to leave the tuned rows out" in str(caught.value)
    assert spec.load("default", ["recipe.epochs=1", "tuned=null"]).tuned is None
