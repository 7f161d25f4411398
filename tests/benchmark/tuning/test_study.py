"""A study's trials: which they are, and that nothing but the trials before decides it."""

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark import spec
from benchmark.engine.plan import Facts
from benchmark.options import RunOptions
from benchmark.spec import Budget
from benchmark.tuning.sampler import check_optuna
from benchmark.tuning.space import RATE, Settings
from benchmark.tuning.study import TRIALS_BEFORE_PRUNING, Progressing, Study, Trial, TrialScore, is_pruned
from benchmark.tuning.tune import TuneRequest, dry_run, studies_of

FACTS = Facts("d" * 64, 200, 100, 10, "closed", (), 1)
EXPERIMENT = """\
dim: 8
datasets: [digits]
recipe: {lr: 0.1, epochs: 2}
losses: [softmax, normface, {arcface: {s: 16}}, elasticface, sphereface]
hyper: {normface: {s: auto}}
"""


def studies(tmp_path: Path, text: str = EXPERIMENT, **budget: object) -> dict[str, Study]:
    (tmp_path / "some.yaml").write_text(text)
    experiment = spec.load(tmp_path / "some.yaml")
    chosen = Budget.model_validate({"trials": 12, "seeds": 2, **budget})
    found = studies_of(TuneRequest(experiment, RunOptions(results=tmp_path), chosen))
    return {study.loss.name: study for study in found}


def played(study: Study, seed: int = 0, until: int | None = None) -> Progressing:
    """A study whose runs have scores that depend on their settings, with a little luck."""
    found = Progressing(study, FACTS)
    while (cell := found.next_cell()) is not None and (until is None or len(found.trials) <= until):
        luck = random.Random(f"{seed} {cell.hyper} {cell.recipe.lr} {cell.seed}").uniform(-0.05, 0.05)
        found.tell(TrialScore(0.8 - abs(cell.recipe.lr - 0.2) + luck))
    return found


def test_what_is_searched(tmp_path: Path) -> None:
    found = {name: set(study.space) for name, study in studies(tmp_path).items()}
    assert found["softmax"] == {RATE}
    assert found["normface"] == {RATE, "s"}  # `hyper` says where it starts
    assert found["arcface"] == {RATE, "m"}  # s is pinned by its entry
    assert found["sphereface"] == {RATE, "m", "lambda_min"}


def test_the_first_trial_is_the_experiments_own_setting(tmp_path: Path) -> None:
    for study in studies(tmp_path).values():
        cell = Progressing(study, FACTS).next_cell()
        assert cell is not None
        assert (cell.hyper, cell.recipe, cell.seed) == (study.loss.hyper, study.recipe, 0)
        assert study.starts_with_its_own


@pytest.mark.parametrize("name", ["softmax", "normface", "arcface", "elasticface", "sphereface"])
def test_trials_are_the_same_again_and_differ_from_each_other(tmp_path: Path, name: str) -> None:
    study = studies(tmp_path)[name]
    first, second = played(study), played(study)
    assert first.trials == second.trials
    assert len(first.trials) == 12
    assert len({repr(trial.settings) for trial in first.trials}) == 12


def test_a_trial_follows_from_those_before_it(tmp_path: Path) -> None:
    """Other scores change the later trials; the start-up ones come from the study alone."""
    study = studies(tmp_path)["arcface"]
    one, other = played(study, seed=0), played(study, seed=1)
    assert [trial.settings for trial in one.trials[:4]] == [trial.settings for trial in other.trials[:4]]
    assert one.trials[11].settings != other.trials[11].settings


def test_values_stay_inside_their_ranges_and_short(tmp_path: Path) -> None:
    for study in studies(tmp_path, trials=30).values():
        for trial in played(study).trials[1:]:
            assert 0.025 <= trial.settings.lr <= 0.4
            for name, value in trial.settings.hyper.items():
                if name in study.space:
                    assert study.space[name].low <= value <= study.space[name].high
                    assert len(repr(value)) <= 9


def test_every_loss_has_the_same_budget(tmp_path: Path) -> None:
    for study in studies(tmp_path, trials=7, seeds=3).values():
        found = Progressing(study, FACTS)
        assert found.runs_left == 21
        assert len(played(study).trials) == 7
        assert played(study).runs_left == 0


def test_search_finds_more_than_chance(tmp_path: Path) -> None:
    """The best rate is 0.2: trials after the start-up come nearer to it than those of the start-up."""
    study = studies(tmp_path, trials=30, seeds=1)["softmax"]
    rates = [abs(trial.settings.lr - 0.2) for trial in played(study).trials]
    assert sum(rates[-10:]) < sum(rates[:10])


def test_listed_rates_alone_are_tried_once_each(tmp_path: Path) -> None:
    study = studies(tmp_path, learning_rates=[0.05, 0.1, 0.2], seeds=1)["softmax"]
    assert study.is_exhaustive
    assert [trial.settings.lr for trial in played(study).trials] == [0.1, 0.05, 0.2]  # the experiment's own first
    pinned = studies(tmp_path, EXPERIMENT.replace("{s: 16}", "{s: 16, m: [0.1, 0.2]}"), learning_rates=[0.1, 0.2])
    assert [trial.settings.lr for trial in played(pinned["arcface"]).trials] == [0.1, 0.2]


@pytest.mark.parametrize("name", ["softmax", "arcface"])
def test_no_listed_setting_is_tried_twice(tmp_path: Path, name: str) -> None:
    """It would be a trial less for losses that have nothing to search but the rate."""
    rates = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4]
    text = EXPERIMENT.replace("{s: 16}", "{s: 16, m: 0.2}")
    study = studies(tmp_path, text, learning_rates=rates, trials=5, seeds=1)[name]
    assert not study.is_exhaustive
    for luck in range(20):
        tried = [trial.settings.lr for trial in played(study, luck).trials]
        assert len(set(tried)) == 5
        assert set(tried) < set(rates)


def test_a_list_without_the_experiments_own_rate(tmp_path: Path) -> None:
    study = studies(tmp_path, learning_rates=[0.01, 0.3], seeds=1)["softmax"]
    assert [trial.settings.lr for trial in played(study).trials] == [0.3, 0.01]
    assert not study.starts_with_its_own


def test_listed_rates_with_more_to_search(tmp_path: Path) -> None:
    study = studies(tmp_path, learning_rates=[0.05, 0.1])["arcface"]
    found = played(study).trials
    assert len(found) == 12
    assert {trial.settings.lr for trial in found} == {0.05, 0.1}


def test_the_best_complete_trial_is_chosen_and_the_earlier_of_equals(tmp_path: Path) -> None:
    study = studies(tmp_path, trials=5, seeds=1)["softmax"]
    found = Progressing(study, FACTS)
    for measured in (
        TrialScore(0.5),
        TrialScore(0.7),
        TrialScore(0.7),
        TrialScore(0.0, "diverged"),
        TrialScore(0.0, "failed"),
    ):
        assert found.next_cell() is not None
        found.tell(measured)
    assert found.next_cell() is None
    assert found.chosen.number == 1
    assert [trial.fate for trial in found.trials] == ["complete"] * 3 + ["diverged", "failed"]


def test_a_run_that_does_not_train_ends_its_trial_and_is_never_chosen(tmp_path: Path) -> None:
    study = studies(tmp_path, trials=2, seeds=2)["softmax"]
    found = Progressing(study, FACTS)
    for measured in (TrialScore(0.99), TrialScore(0.0, "diverged"), TrialScore(0.2), TrialScore(0.1)):
        assert found.next_cell() is not None
        found.tell(measured)
    assert found.chosen.number == 1
    none = Progressing(replace(study, budget=Budget(trials=1, seeds=2)), FACTS)
    none.next_cell()
    none.tell(TrialScore(0.0, "diverged"))
    assert none.next_cell() is None
    assert none.chosen.number == 0


def test_pruning() -> None:
    settings = Settings({}, 0.1)
    earlier = [Trial(n, settings, (score, score), "complete") for n, score in enumerate((0.2, 0.4, 0.6, 0.8))]
    assert len(earlier) == TRIALS_BEFORE_PRUNING
    assert is_pruned((0.49,), earlier)
    assert not is_pruned((0.5,), earlier)
    assert not is_pruned((0.0,), earlier[1:])
    diverged = Trial(4, settings, (0.0,), "diverged")
    assert not is_pruned((0.5,), [*earlier, diverged])  # it does not drag the median down
    assert is_pruned((0.49,), [*earlier, diverged])


def test_a_pruned_trial_spares_its_last_seed(tmp_path: Path) -> None:
    found = played(studies(tmp_path)["softmax"])
    pruned = [trial for trial in found.trials if trial.fate == "pruned"]
    assert pruned
    assert all(len(trial.scores) == 1 and trial is not found.chosen for trial in pruned)


def test_dry_run_tells_what_is_searched_and_the_most_that_is_run(tmp_path: Path) -> None:
    studies(tmp_path)
    request = TuneRequest(spec.load(tmp_path / "some.yaml"), RunOptions(results=tmp_path), Budget(trials=12, seeds=2))
    lines = dry_run(request).splitlines()
    assert len(lines) == 7
    assert "arcface s=16 · m 0 to 0.6, lr 0.025 to 0.4" in lines[2]
    assert "5 studies, at most 120 runs" in lines[-2]
    assert lines[-1].startswith("estimated memory: 0.")


def test_what_is_trained_in_several_ways_cannot_be_tuned(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="trains on digits in several ways"):
        studies(tmp_path, EXPERIMENT.replace("lr: 0.1", "lr: [0.1, 0.2]"))


def test_without_optuna_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)  # as if it were not installed
    with pytest.raises(ValueError, match=r"pip install .*\[tune\]"):
        check_optuna()
