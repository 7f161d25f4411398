"""The facts of a dataset: the recipe is the experiment's, and shows only what has an effect."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmark import spec
from benchmark.recipe import Recipe
from benchmark.report.facts import dataset_facts, recipe_in_words
from benchmark.results import collect
from tests.benchmark.report.stored import store_runs

TEXT = """\
description: Made by hand.
baseline: normface
seeds: 1
datasets: [digits]
recipe: {optimiser: adamw, lr: 0.01, epochs: 3}
losses: [normface, arcface]
"""


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (
            Recipe(warmup=0.0),
            "sgd, RATE, weight decay 0.0005, momentum 0.9, cosine schedule, 10 epochs with a batch size of 128, "
            "no augmentation",
        ),
        (
            Recipe(optimiser="adamw", schedule="step", milestones=(0.5, 0.75), warmup=0.3, label_smoothing=0.1),
            "adamw, RATE, weight decay 0.0005, step schedule at 50, 75 % of the run, warm-up over 30 % of the run, "
            "10 epochs with a batch size of 128, no augmentation, label smoothing 0.1",
        ),
    ],
)
def test_a_recipe_shows_only_what_has_an_effect(recipe: Recipe, words: str) -> None:
    assert recipe_in_words(asdict(recipe), "RATE") == words


@pytest.mark.parametrize(
    ("tuned", "words"),
    [
        ((), "adamw, learning rate 0.01, "),
        (("arcface",), "adamw, learning rate 0.01 (each tuned row has its own), "),
        (("arcface", "normface"), "adamw, learning rate tuned for each loss (0.01 before tuning), "),
    ],
)
def test_the_rate_of_a_tuned_row_is_not_the_recipe_s(tmp_path: Path, tuned: tuple[str, ...], words: str) -> None:
    collected = collect(spec.load(store_runs(tmp_path, TEXT, lambda cell: 0.9)), tmp_path / "results")
    runs = []
    for run in collected.runs:
        about = run.cell["cell"]
        is_tuned = about["loss"] in tuned
        rate = 0.5 if is_tuned else about["recipe"]["lr"]
        labels = {**run.cell["labels"], "tuned": is_tuned}
        cell = {**run.cell, "labels": labels, "cell": {**about, "recipe": {**about["recipe"], "lr": rate}}}
        runs.append(replace(run, cell=cell))
    facts = dict(dataset_facts(replace(collected, runs=runs), "digits"))
    assert facts["Recipe"].startswith(words)
    assert "0.5," not in facts["Recipe"]
    assert "momentum" not in facts["Recipe"]


def test_a_recipe_shows_what_it_changes_about_pixels_and_test_images() -> None:
    recipe = Recipe(pixel_mean=(0.5,), pixel_std=(0.2, 0.3, 0.4), channel_order="bgr", flip_test=True)
    words = ", pixel mean 0.5 (of 0 to 1), pixel deviation 0.2/0.3/0.4 (of 0 to 1), channel order bgr, flip test"
    assert recipe_in_words(recipe.description(), "RATE") == recipe_in_words(Recipe().description(), "RATE") + words
