"""Pictures of experiments that vary one thing about the training."""

import json
from pathlib import Path

import pandas as pd
import pytest

from benchmark.plots import Picture, Skipped, sensitivity
from benchmark.plots._context import Context
from benchmark.recipe import Recipe
from tests.benchmark.plots.made import made
from tests.benchmark.plots.seen import faults, texts


def rows(**varied: list[object]) -> pd.DataFrame:
    """Two losses with a run for each value of a part of the recipe."""
    ((key, values),) = varied.items()
    recipes = [json.dumps({**vars(Recipe()), "milestones": [], key: value}) for value in values]
    return pd.DataFrame(
        [
            {"dataset": f"d · {key} {value}", "loss": loss, "backbone": "convnet", "dim": 8, "recipe": recipe}
            for loss in ("a", "b")
            for value, recipe in zip(values, recipes, strict=True)
        ]
    )


def test_settings_come_in_the_order_of_their_values() -> None:
    found = sensitivity.varied_settings(rows(lr=[0.1, 0.02, 1.0]), ["d"] * 6)
    assert found.to_dict("list") == {
        "dataset": ["d · lr 0.02", "d · lr 0.1", "d · lr 1.0"],
        "data": ["d"] * 3,
        "key": ["lr"] * 3,
        "value": ["0.02", "0.1", "1"],
    }
    assert sensitivity._places(found) == pytest.approx({"0.02": -5.643856, "0.1": -3.321928, "1": 0.0}, abs=1e-5)


def test_names_stand_one_after_the_other() -> None:
    found = sensitivity.varied_settings(rows(schedule=["step", "cosine"]), ["d"] * 4)
    assert sensitivity._places(found) == {"cosine": 0.0, "step": 1.0}


def test_a_schedule_and_its_milestones_are_one_thing() -> None:
    table = rows(schedule=["step", "cosine"])
    recipes = [json.loads(recipe) for recipe in table["recipe"]]
    stepping = [{**one, "milestones": [0.5, 0.75] if one["schedule"] == "step" else []} for one in recipes]
    found = sensitivity.varied_settings(table.assign(recipe=[json.dumps(one) for one in stepping]), ["d"] * 4)
    assert set(found["key"]) == {"schedule"}
    assert sensitivity._places(found) == {"cosine": 0.0, "step (0.5, 0.75)": 1.0}


def test_a_rate_of_its_own_for_each_loss_is_no_setting_that_varies() -> None:
    table = rows(lr=[0.1, 0.2])
    tuned = table[(table["loss"] == "a") == (table["dataset"] == "d · lr 0.1")].assign(dataset="d")
    assert not len(sensitivity.varied_settings(tuned, ["d"] * 2))


def test_two_things_that_vary_are_no_single_line() -> None:
    table = pd.concat([rows(lr=[0.1, 0.2]), rows(batch=[16, 32])])
    assert not len(sensitivity.varied_settings(table.reset_index(drop=True), ["d"] * 8))


def test_the_picture_of_a_stored_experiment(tmp_path: Path) -> None:
    collected = made(tmp_path, datasets=[{"digits": None, "label": "closed set"}], dim=[4, 8, 16], seeds=5)
    (drawn,) = sensitivity.draw(Context(collected))
    assert isinstance(drawn, Picture)
    assert drawn.title == "Sensitivity to the training: embedding size, closed set"
    assert not faults(drawn.figure)
    left, right = drawn.figure.axes
    losses = [row.label for row in collected.experiment.losses]
    assert {line.get_label() for line in left.lines} == {text.get_text() for text in left.texts} == set(losses)
    normface = next(line for line in left.lines if line.get_label() == "normface s=16")
    table = collected.table
    for label, height in zip(("4", "8", "16"), normface.get_ydata(), strict=True):
        own = table[(table["loss"] == "normface s=16") & (table["dim"] == int(label))]
        assert height == pytest.approx(100 * own["test/classification_accuracy"].mean())  # the set's main metric
        assert label == "8" or f"{height:.1f} at {label}" in drawn.finding  # both ends are told
    assert "difference from normface s=16, percentage points" in {text for text, _ in texts(drawn.figure)}
    assert not drawn.figure.legends
    assert len(right.lines) == len(losses) - 1 + 1  # and the line at 0


def test_without_anything_that_varies_there_is_none(tmp_path: Path) -> None:
    (drawn,) = sensitivity.draw(Context(made(tmp_path)))
    assert isinstance(drawn, Skipped)
    assert "differ in one thing" in drawn.reason


def test_diverged_settings_leave_a_gap(tmp_path: Path) -> None:
    collected = made(
        tmp_path,
        datasets=[{"digits": None, "label": "closed set"}],
        dim=[4, 8],
        seeds=2,
        diverged=lambda cell: cell.dim == 4,
    )
    (drawn,) = sensitivity.draw(Context(collected))
    assert isinstance(drawn, Picture)
    assert "at 4" not in drawn.finding
