"""The pictures of scale, margin and gradient: drawn from what was run, skipped with a reason where it is otherwise."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark import metrics
from benchmark.plots import Context, Picture, Skipped, gradient, margin_effect, scale, scale_margin
from benchmark.plots._scale_margin import effects_of, rows_with_settings
from benchmark.scale_margin import margin_effects, margin_effects_over_datasets
from tests.benchmark.plots.made import BOTH, LOSSES, made
from tests.benchmark.plots.seen import faults, is_empty

VERIFICATION = metrics.column("test/accuracy")

GRID = (
    {"normface": {"s": [4, 16, 64]}},
    {"arcface": {"s": [4, 16, 64], "m": [0.1, 0.3]}},
    {"combined": {"s": [4, 16, 64]}},
)
GRADIENTS = ({"normface": {"s": 16}}, {"arcface": {"s": 16, "gradient": ["exact", "detached"]}})


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return Context(made(tmp_path_factory.mktemp("grid"), GRID, BOTH, seeds=2, baseline="normface s=16"))


def check(pictures: list[Picture]) -> None:
    for picture in pictures:
        assert len(picture.caption) > 50
        assert "nan" not in picture.caption.lower().split()
        assert not [axes for axes in picture.figure.axes if is_empty(axes)], picture.name
        assert faults(picture.figure) == [], picture.name


def test_every_picture_of_a_grid(context: Context) -> None:
    drawn = [item for part in (scale, margin_effect, scale_margin) for item in part.draw(context)]
    pictures = [item for item in drawn if isinstance(item, Picture)]
    assert len(pictures) == len(drawn) == 1 + 2 + 2
    assert [picture.name for picture in pictures[:2]] == ["scale", "margin-effect-arcface"]
    assert pictures[2].title.endswith("losses with one margin")
    assert {picture.section for picture in pictures} == {"scale"}
    check(pictures)


def test_a_heat_map_holds_the_means(context: Context) -> None:
    rows = rows_with_settings(context)
    found = scale_margin.maps_of(scale_margin.means(rows, context).query("dataset == 'open set'"))
    assert list(found) == ["arcface"]
    grid = found["arcface"]
    assert grid.index.tolist() == [64.0, 16.0, 4.0]
    assert grid.columns.tolist() == [0.0, 0.1, 0.3]
    table = context.table
    for s in (4, 16, 64):
        for m, label in ((0.0, f"normface s={s}"), (0.3, f"arcface m=0.3 s={s}")):
            mean = table[(table["dataset"] == "open set") & (table["loss"] == label)][VERIFICATION.key].mean()
            assert grid.loc[s, m] == pytest.approx(100 * mean)


def test_lines_of_the_effect_are_the_paired_differences(context: Context) -> None:
    table = context.table[context.table["dataset"] == "open set"].set_index(["loss", "seed"])[VERIFICATION.key]
    effects = effects_of(context, rows_with_settings(context), margin_effects, margin_effects_over_datasets, "sides")
    chosen = effects[(effects["dataset"] == "open set") & (effects["loss"] == "arcface m=0.3 s=16")].iloc[0]
    by_hand = [table["arcface m=0.3 s=16", seed] - table["normface s=16", seed] for seed in range(2)]
    assert float(chosen["difference"]) == pytest.approx(np.mean(by_hand))
    picture = next(iter(margin_effect.draw(context)))
    assert isinstance(picture, Picture)
    panel = next(axes for axes in picture.figure.axes if axes.get_title() == "open set")
    heights = [height for line in panel.lines for height in np.atleast_1d(line.get_ydata())]
    assert any(height == pytest.approx(100 * np.mean(by_hand)) for height in heights)


def test_scale_shows_the_margin_that_validation_chose() -> None:
    rows = pd.DataFrame({"dataset": "d", "loss": ["a", "b"], "name": "arcface", "title": "arcface", "s": 4.0})
    rows = rows.assign(variant="arcface", tuned=False, m=[0.1, 0.3], seed=0, status="ok")
    rows = rows.assign(**{"val/accuracy": [0.9, 0.8], "test/accuracy": [0.1, 0.7]})

    class Kept:
        jackknife: dict[object, object] = {}

    class Plain:
        column, metric, collected = VERIFICATION, VERIFICATION.key, Kept()

    found = scale.best_margins(rows, Plain())  # type: ignore[arg-type]
    assert found["loss"].tolist() == ["a"]
    assert found["mean"].tolist() == [pytest.approx(10.0)]


def test_the_gradient_s_forest(tmp_path: Path) -> None:
    context = Context(made(tmp_path, GRADIENTS, BOTH, seeds=2, baseline="normface s=16"))
    (picture,) = gradient.draw(context)
    assert isinstance(picture, Picture)
    assert "Each mark is a loss minus its exact form" in picture.caption
    check([picture])
    (none,) = scale.draw(context)
    assert isinstance(none, Skipped)
    assert none.reason == "every loss has one scale only on each dataset"


@pytest.mark.parametrize("sick", ["diverged", "usual", "no normface"])
def test_what_is_of_another_shape_is_skipped_with_the_reason(tmp_path: Path, sick: str) -> None:
    if sick == "usual":
        collected = made(tmp_path, LOSSES, BOTH[:1], seeds=1)
    elif sick == "diverged":
        collected = made(tmp_path, GRID, BOTH[:1], seeds=1, baseline="normface s=16", diverged=lambda cell: True)
    else:
        collected = made(tmp_path, GRID[1:2], BOTH[:1], seeds=1, baseline="arcface m=0.1 s=4")
    context = Context(collected)
    (effect,) = margin_effect.draw(context)
    assert isinstance(effect, Skipped)
    reasons = {
        "usual": "every loss has one scale only on each dataset",
        "diverged": "no run has a verification accuracy",
        "no normface": "normface, which has no margin, was not run",
    }
    assert effect.reason == reasons[sick]
    kinds = [type(item) for part in (scale, scale_margin) for item in part.draw(context)]
    assert set(kinds) == ({Picture} if sick == "no normface" else {Skipped})
