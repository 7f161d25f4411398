import pytest
import yaml

import datasets
import losses
from benchmark import spec
from benchmark.spec.yaml_file import SHIPPED

ALL = len(losses.names())
ELEVEN = {
    "softmax", "normface", "sphereface", "cosface", "arcface", "combined", "adacos_fixed", "adacos", "adaacos",
    "arcgrad", "kappaface",
}  # fmt: skip
CELLS = {
    "smoke": 2 * 3 * 3,
    "default": 2 * 11 * 5,
    "low-dim": 2 * 7 * 2,
    "faces": 18 * 3,
    "fashion": ALL * 5,
    "omniglot": ALL * 3,
    "longtail": 4 * 6 * 5,
    "noise": 3 * ALL * 5,
    "leaderboard": 2 * ALL * 5,
    "claims": 5 * (21 + 7 + 19 + 10 + 1 + 2 + 4 + 4),
    "scale-or-margin": 5 * (5 + 15 + 15 + 9 * 5) * 3,
    "gradient": 2 * (1 + 2 * 12) * 5,
    "sensitivity-dim": 6 * 2 * 5,
    "sensitivity-lr": 5 * 2 * 5,
    "sensitivity-batch": 4 * 2 * 5,
    "sensitivity-schedule": 4 * 2 * 5,
}


def test_the_issue_s_experiments_are_shipped() -> None:
    assert spec.names() == sorted(CELLS)


@pytest.mark.parametrize("name", CELLS)
def test_it_expands_into_as_many_cells_as_its_parts_multiply_to(name: str) -> None:
    experiment = spec.load(name)
    assert len(experiment.cells()) == CELLS[name]
    assert experiment.name == experiment.path.stem == name
    assert spec.describe(name) == experiment.description != ""
    assert experiment.baseline in {row.label for row in experiment.losses}
    assert {cell.backbone for cell in experiment.cells()} == {"lenet2d" if name == "low-dim" else "convnet"}


@pytest.mark.parametrize("name", CELLS)
def test_any_yaml_reader_understands_it_alike(name: str) -> None:
    plain = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text())
    recipe = spec.load(name).without_tuned.cells(seeds=[0])[-1].recipe
    given = {**plain["recipe"], **(plain["datasets"][-1].get("recipe", {}))}
    given = {key: value for key, value in given.items() if not isinstance(value, list)}  # those are several values
    assert {key: getattr(recipe, key) for key in given} == given


def test_the_default_trains_eleven_losses_on_both_sets_that_need_no_download() -> None:
    cells = spec.load("default").cells()
    assert {cell.loss for cell in cells} == ELEVEN
    assert {cell.dataset["name"] for cell in cells} == {"digits", "glyphs"}
    assert {cell.seed for cell in cells} == set(range(5))


@pytest.mark.parametrize("name", ["default", "scale-or-margin"])
def test_settings_of_a_fair_comparison_were_tuned_with_one_budget_for_all(name: str) -> None:
    experiment = spec.load(name)
    assert experiment.tuned is not None
    assert experiment.tuned.budget == experiment.tune
    datasets = {data.label for data in experiment.datasets}
    assert all(row.tuned is not None and set(row.tuned) == datasets for row in experiment.losses)
    assert len(experiment.losses) == len(experiment.without_tuned.losses)


def test_before_tuning_the_default_has_the_papers_margins_and_scales_by_the_class_count() -> None:
    cells = spec.load("default").without_tuned.cells()
    assert all(cell.hyper["s"] == "auto" for cell in cells if cell.loss == "arcface")
    assert all("m" not in cell.hyper for cell in cells)


def test_the_leaderboard_runs_every_loss_and_those_of_the_default_as_they_were_before_tuning() -> None:
    cells = spec.load("leaderboard").cells()
    assert {cell.loss for cell in cells} == set(losses.names())
    assert {cell.seed for cell in cells} == set(range(5))
    here = [cell.description() for cell in cells]
    assert all(cell.description() in here for cell in spec.load("default").without_tuned.cells())


def test_smoke_is_done_in_seconds() -> None:
    estimates = spec.estimate_seconds(spec.load("smoke").cells())
    assert None not in estimates
    assert sum(seconds or 0 for seconds in estimates) < 10


def test_estimates_are_known_where_the_size_of_the_data_is() -> None:
    for name in spec.names():
        cells = spec.load(name).cells()
        sizes = [datasets.training_size(cell.dataset) for cell in cells]
        assert [size is None for size in sizes] == [seconds is None for seconds in spec.estimate_seconds(cells)]
        assert (None in sizes) == (name == "faces")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("defualt", "there is no experiment 'defualt'; did you mean 'default'?"),
        ("../default", "there is no experiment '../default'"),
        ("nowhere/mine.yaml", "nowhere/mine.yaml: there is no such file"),
    ],
)
def test_what_is_not_there_is_named_with_the_nearest(source: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"no (experiment|such file)") as caught:
        spec.load(source)
    assert words in str(caught.value)


def test_the_experiments_of_paper_files_have_names_of_their_own() -> None:
    experiment = spec.load("table-arcface-smoke")
    assert experiment.name == "table-arcface-smoke"
    assert experiment.path.name == "arcface.yaml"
    assert spec.load(experiment) is experiment
    assert not [name for name in spec.names() if name.startswith("table-")]


@pytest.mark.parametrize("name", ["table-arcfase-cpu", "table-arcface-huge", "table-../default-cpu"])
def test_a_paper_s_experiment_that_is_not_there(name: str) -> None:
    with pytest.raises(ValueError, match="there is no experiment"):
        spec.load(name)
