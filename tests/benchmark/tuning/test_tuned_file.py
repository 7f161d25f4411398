"""Files of tuned settings: read, checked against the experiment, and refused with the reason."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark import spec
from tests.benchmark.tuning.made import TINY, content, write


@pytest.fixture
def experiment(tmp_path: Path) -> spec.Experiment:
    (tmp_path / "tiny.yaml").write_text(TINY)
    return spec.load(tmp_path / "tiny.yaml")


def both(experiment: spec.Experiment) -> dict[str, Any]:
    return content(experiment, normface={"hyper": {"s": 9}, "lr": 0.05}, arcface={"hyper": {"s": 16.0, "m": 0.2}})


def test_both_rows(experiment: spec.Experiment, tmp_path: Path) -> None:
    tuned = spec.read_tuned(write(tmp_path / "t.yaml", both(experiment)))
    found = spec.with_tuned(experiment, tuned)
    labels = ["softmax", "normface s=auto", "normface (tuned)", "arcface s=16", "arcface s=16 (tuned)"]
    assert [row.label for row in found.losses] == labels
    cells = {cell.label: cell for cell in found.cells(seeds=[0])}
    assert (cells["normface (tuned)"].hyper, cells["normface (tuned)"].recipe.lr) == ({"s": 9.0}, 0.05)
    assert (cells["normface s=auto"].hyper, cells["normface s=auto"].recipe.lr) == ({"s": "auto"}, 0.1)
    assert cells["arcface s=16 (tuned)"].hyper == {"s": 16.0, "m": 0.2}
    assert found.baseline == "normface s=auto"
    assert found.baselines == {"arcface s=16 (tuned)": "normface (tuned)"}
    assert found.without_tuned == experiment
    assert {cell.label for cell in found.cells(losses=["arcface"])} == {"arcface s=16", "arcface s=16 (tuned)"}


def test_only_tuned_rows(experiment: spec.Experiment, tmp_path: Path) -> None:
    tuned = spec.read_tuned(write(tmp_path / "t.yaml", both(experiment)))
    found = spec.with_tuned(experiment, tuned, "only")
    assert [row.label for row in found.losses] == ["softmax", "normface (tuned)", "arcface s=16 (tuned)"]
    assert (found.baseline, found.baselines) == ("normface (tuned)", {})
    again = spec.with_tuned(found, tuned, "both")  # from the experiment's own rows
    assert len(again.losses) == 5
    with pytest.raises(ValueError, match="expected one of both, only"):
        spec.with_tuned(experiment, tuned, "all")


def test_without_untuned_rows_beside_them_tuned_rows_are_not_marked(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.replace("softmax, ", ""))
    experiment = spec.load(tmp_path / "tiny.yaml")
    tuned = spec.read_tuned(write(tmp_path / "t.yaml", both(experiment)))
    found = spec.with_tuned(experiment, tuned, "only")
    assert [(row.label, row.tuned is not None) for row in found.losses] == [("normface", True), ("arcface s=16", True)]
    assert (found.baseline, found.baselines) == ("normface", {})
    assert {cell.label for cell in found.cells()} == {"normface", "arcface s=16"}
    labels = [row.label for row in spec.with_tuned(experiment, tuned, "both").losses]
    assert labels == ["normface s=auto", "normface (tuned)", "arcface s=16", "arcface s=16 (tuned)"]


def test_a_row_that_is_tuned_on_some_datasets_stays_for_the_others(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.replace("datasets:\n", "datasets:\n  - digits:\n    label: all digits\n"))
    experiment = spec.load(tmp_path / "tiny.yaml")
    what = both(experiment)
    del what["datasets"]["all digits"]
    found = spec.with_tuned(experiment, spec.read_tuned(write(tmp_path / "t.yaml", what)), "only")
    assert [row.label for row in found.losses if row.name == "normface"] == ["normface s=auto", "normface (tuned)"]
    assert found.baseline == "normface s=auto"
    on = {(cell.label, cell.dataset_label) for cell in found.cells(losses=["normface"], seeds=[0])}
    assert on == {("normface s=auto", "digits"), ("normface s=auto", "all digits"), ("normface (tuned)", "digits")}


def test_an_experiment_file_may_name_it(experiment: spec.Experiment, tmp_path: Path) -> None:
    write(tmp_path / "chosen.yaml", both(experiment))
    (tmp_path / "other.yaml").write_text(TINY + "tuned: chosen.yaml\ntuned_rows: only\n")
    found = spec.load(tmp_path / "other.yaml")
    assert [row.label for row in found.losses] == ["softmax", "normface (tuned)", "arcface s=16 (tuned)"]
    (tmp_path / "wrong.yaml").write_text(TINY + "tuned: nothing\ntuned_rows: some\n")
    with pytest.raises(ValueError, match="tuned_rows: there is no choice of rows 'some'"):
        spec.load(tmp_path / "wrong.yaml")
    (tmp_path / "wrong.yaml").write_text(TINY + "tuned: nothing\n")
    with pytest.raises(ValueError, match=r"line 13, tuned: there is no file of tuned settings 'nothing'"):
        spec.load(tmp_path / "wrong.yaml")


def test_the_budget_in_an_experiment_file(tmp_path: Path) -> None:
    (tmp_path / "some.yaml").write_text(TINY.replace("trials: 3", "trials: 3, learning_rates: [0.1, 0.2]"))
    assert spec.load(tmp_path / "some.yaml").tune.learning_rates == (0.1, 0.2)
    wrong = {"trials: 0": "tune.trials", "trials: 3, seeds: 0": "tune.seeds", "trial: 3": "did you mean 'trials'"}
    wrong |= {f"learning_rates: {rates}": "tune.learning_rates" for rates in ("[]", "[0]", "[.inf]", "[0.1, 0.1]")}
    for given, reason in wrong.items():
        (tmp_path / "some.yaml").write_text(TINY.replace("tune: {trials: 3, seeds: 2}", f"tune: {{{given}}}"))
        with pytest.raises(ValueError, match=reason):
            spec.load(tmp_path / "some.yaml")


def _set(*keys: str, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(what: dict[str, Any]) -> None:
        for key in keys[:-1]:
            what = what[key]
        what[keys[-1]] = to

    return change


ROW, PINNED = ("datasets", "digits", "normface s=auto"), ("datasets", "digits", "arcface s=16")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_set("surplus", to=1), "there is no key 'surplus'"),
        (_set("experiment", to=7), "experiment: should be a text"),
        (_set("made", to=[]), "made: should be a mapping"),
        (_set("made", "commit", to=5), "made.commit: should be a text"),
        (_set("earlier", to=[{"date": "2026-01-01"}]), r"earlier.*marginbench: is missing"),
        (_set("budget", "trials", to=0), "budget.trials"),
        (_set("budget", to={"trials": 10**17}), "budget.trials"),
        (_set("datasets", to={}), "should not be empty"),
        (_set("datasets", to=[1]), "datasets: should be a mapping"),
        (_set("datasets", "digits", to={}), "should be a mapping from rows"),
        (_set("datasets", "digits", to="rows"), "should be a mapping from rows"),
        (_set(*ROW, to=None), "should be a mapping with keys of hyper"),
        (_set(*ROW, "lr", to=-1.0), "lr: should be greater than 0"),
        (_set(*ROW, "lr", to="fast"), "lr: should be a number"),
        (_set(*ROW, "validation", to=7.0), "validation: should be less than or equal to 1"),
        (_set(*ROW, "of", to="../../x"), "of: "),
        (_set(*ROW, "of", to="0" * 16), "was tuned with other data, training or pinned settings than tiny has"),
        (_set(*ROW, "hyper", to={"q": 1}), "normface has no hyper-parameter 'q'"),
        (_set(*ROW, "hyper", to={"s": -4}), "hyper.s: -4 is not allowed"),
        (_set(*ROW, "hyper", to={"s": [4, 8]}), "should have one value for each name"),
        (_set(*ROW, "hyper", to={"s": []}), "should not be an empty list"),
        (_set(*PINNED, "hyper", to={"m": 0.2}), "s is 64.0, but tiny gives this row another value"),
        (_set(*PINNED, "hyper", to={"s": 32}), "s is 32.0, but tiny gives this row another value"),
        (_set("datasets", "digit", to={"softmax": {}}), "datasets.digit.softmax.hyper: is missing"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key(
    experiment: spec.Experiment, tmp_path: Path, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    what = both(experiment)
    change(what)
    with pytest.raises(ValueError, match=reason):
        spec.with_tuned(experiment, spec.read_tuned(write(tmp_path / "t.yaml", what)))


def test_what_the_experiment_does_not_have_is_named(experiment: spec.Experiment, tmp_path: Path) -> None:
    what = both(experiment)
    what["datasets"]["digit"] = what["datasets"]["digits"]
    with pytest.raises(ValueError, match="tiny has no dataset 'digit'; did you mean 'digits'"):
        spec.with_tuned(experiment, spec.read_tuned(write(tmp_path / "t.yaml", what)))
    what = both(experiment)
    what["datasets"]["digits"]["normfaces"] = what["datasets"]["digits"]["normface s=auto"]
    with pytest.raises(ValueError, match="tiny has no row 'normfaces'"):
        spec.with_tuned(experiment, spec.read_tuned(write(tmp_path / "t.yaml", what)))


@pytest.mark.parametrize(
    "text",
    ["", "- a", "!!python/object/apply:os.system ['true']", "a: &a [*a]", "\x00", "{" * 10_000, "x: " + "y" * 2**21],
)
def test_hostile_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"t\.yaml"):
        spec.read_tuned(tmp_path / "t.yaml")


def test_a_change_of_training_is_noticed(experiment: spec.Experiment, tmp_path: Path) -> None:
    tuned = spec.read_tuned(write(tmp_path / "t.yaml", both(experiment)))
    (tmp_path / "tiny.yaml").write_text(TINY.replace("epochs: 1", "epochs: 2"))
    with pytest.raises(ValueError, match="was tuned with other data, training or pinned settings"):
        spec.with_tuned(spec.load(tmp_path / "tiny.yaml"), tuned)
