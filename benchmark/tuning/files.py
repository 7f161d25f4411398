"""The files that tuning writes: trials.csv with a row per trial, and the tuned settings that `run` takes.

Tuning some losses or datasets of an experiment keeps the earlier choices for the others.
"""

import csv
import io
import json
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from benchmark.errors import InputError
from benchmark.spec import Budget, Experiment
from benchmark.spec.tuned import read_tuned
from benchmark.text import counted
from benchmark.tuning.sampler import RANDOM_TRIALS
from benchmark.tuning.space import FACTOR
from benchmark.tuning.study import PRUNING, Place, Progressing, Study
from benchmark.version import commit, version_of

HEADING = "# Settings chosen on validation data; `python -m benchmark run EXPERIMENT --tuned FILE` uses them.\n"
DECIMALS = 6


@dataclass(frozen=True)
class Kept:
    """Rows of an earlier file that stay in it, and what made them."""

    choices: Mapping[Place, dict[str, Any]] = field(default_factory=dict)
    made: tuple[dict[str, Any], ...] = ()
    trials: Mapping[Place, list[list[str]]] = field(default_factory=dict)


def kept_of(file: Path, trials: Path, every: Sequence[Study], now: Sequence[Study], budget: Budget) -> Kept:
    """The file's choices for the experiment's other studies that are still valid; ValueError if the budget differs."""
    tuned_now = {study.place for study in now}
    others = {study.place: study.key for study in every if study.place not in tuned_now}
    if not others or not file.is_file():
        return Kept()
    earlier = read_tuned(file)
    choices = {
        (dataset, label): choice.model_dump(mode="json")
        for dataset, rows in earlier.choices.items()
        for label, choice in rows.items()
        if others.get((dataset, label)) == choice.of
    }
    if not choices:
        return Kept()
    if earlier.budget != budget:
        raise InputError(
            f"{file} has rows that were tuned with another budget, {counted(earlier.budget.trials, 'trial')} of "
            f"{counted(earlier.budget.seeds, 'seed')}: tune all losses with this budget, or add --output FILE"
        )
    made = tuple(one.model_dump(mode="json") for one in (*earlier.earlier, earlier.made))
    return Kept(choices, made, _trials_of(trials, choices))


def _trials_of(path: Path, places: Mapping[Place, Any]) -> dict[Place, list[list[str]]]:
    """The lines of trials.csv by their study; those of the places alone."""
    found: dict[Place, list[list[str]]] = {}
    if not path.is_file():
        return found
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (ValueError, csv.Error) as problem:
        raise InputError(f"{path} is not a list of trials: {problem}; remove it to tune all rows again") from problem
    for line in lines:
        if len(line) > 2 and (line[0], line[1]) in places:
            found.setdefault((line[0], line[1]), []).append(line)
    return found


def trials_csv(studies: Sequence[Progressing], order: Sequence[Place], kept: Kept) -> bytes:
    """A row per trial, in the order of the experiment."""
    seeds = max(study.study.budget.seeds for study in studies)
    columns = ["dataset", "loss", "trial", "hyper", "lr", *(f"seed {seed}" for seed in range(seeds))]
    lines = {**kept.trials, **{study.study.place: _trial_lines(study, seeds) for study in studies}}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, "mean", "fate", "chosen"])
    writer.writerows(line for place in order for line in lines.get(place, []))
    return text.getvalue().encode()


def _trial_lines(study: Progressing, seeds: int) -> Iterator[list[Any]]:
    for trial in study.trials:
        scores = [*(repr(score) for score in trial.scores), *[""] * (seeds - len(trial.scores))]
        hyper = json.dumps(dict(trial.settings.hyper), sort_keys=True)
        first = [*study.study.place, trial.number, hyper, repr(trial.settings.lr)]
        chosen = "yes" if trial is study.chosen else ""
        yield [*first, *scores, repr(round(trial.mean, DECIMALS)), trial.fate, chosen]


def tuned_file(
    experiment: Experiment, budget: Budget, studies: Sequence[Progressing], order: Sequence[Place], kept: Kept
) -> bytes:
    """The same trials give the same bytes, except for `made` and `earlier`."""
    choices = {**kept.choices, **{study.study.place: _choice(study) for study in studies}}
    datasets: dict[str, dict[str, Any]] = {}
    for dataset, label in (place for place in order if place in choices):
        datasets.setdefault(dataset, {})[label] = choices[dataset, label]
    content = {
        "experiment": experiment.name,
        "made": {
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "marginbench": version_of("marginbench") or "unknown",
            "python": platform.python_version(),
            "torch": version_of("torch") or "unknown",
            "optuna": version_of("optuna"),
            "commit": commit(),
        },
        **({"earlier": list(kept.made)} if kept.made else {}),
        "budget": budget.model_dump(mode="json", exclude_none=True),
        "sampler": _sampler(budget, studies),
        "pruning": PRUNING if budget.seeds > 1 else "none: there is one seed",
        "datasets": datasets,
    }
    return (HEADING + as_yaml(content)).encode()


def _choice(study: Progressing) -> dict[str, Any]:
    chosen, first = study.chosen, study.trials[0]
    return {
        "hyper": dict(chosen.settings.hyper),
        "lr": chosen.settings.lr,
        "trial": chosen.number,
        "validation": round(chosen.mean, DECIMALS) if chosen.fate == "complete" else None,
        "before": round(first.mean, DECIMALS) if study.study.starts_with_its_own and first.fate == "complete" else None,
        "of": study.study.key,
    }


def _sampler(budget: Budget, studies: Sequence[Progressing]) -> str:
    kinds = {study.study.is_exhaustive for study in studies}
    every = "every listed value once"
    tpe = f"the experiment's own setting, then Optuna's TPE, its first {RANDOM_TRIALS - 1} trials at random"
    words = f"{tpe}; where only listed values are left to choose from, {every}" if len(kinds) > 1 else tpe
    words = every if kinds == {True} else words
    return words if budget.learning_rates else f"{words}; learning rates within a factor of {FACTOR:g} of the recipe's"


class _Dumper(yaml.SafeDumper):
    """Quotes what another reader of YAML might take for a number, such as a commit of digits and an e."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if value[:1].isalpha() else '"')


_Dumper.add_representer(str, _text)


def as_yaml(content: dict[str, Any]) -> str:
    return str(yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000))
