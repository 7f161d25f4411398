"""What tuning leaves: every trial as a row of trials.csv, and the file of tuned settings that `run` takes."""

import csv
import io
import json
import platform
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from benchmark.engine.work import commit
from benchmark.spec import Budget, Experiment
from benchmark.store import write_atomically
from benchmark.tuning.sampling import RANDOM_TRIALS
from benchmark.tuning.space import FACTOR
from benchmark.tuning.study import PRUNING, Progressing

HEADING = "# Settings chosen on validation data; `python -m benchmark run EXPERIMENT --tuned FILE` uses them.\n"
DECIMALS = 6


def write_outcome(content: dict[str, Any], studies: Sequence[Progressing], tuned: Path, trials: Path) -> None:
    write_atomically(trials, trials_csv(studies))
    write_atomically(tuned, (HEADING + as_yaml(content)).encode())


def trials_csv(studies: Sequence[Progressing]) -> bytes:
    """A row a trial, in the order of the experiment."""
    seeds = max(study.study.budget.seeds for study in studies)
    columns = ["dataset", "loss", "trial", "hyper", "lr", *(f"seed {seed}" for seed in range(seeds))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, "mean", "fate", "chosen"])
    for study in studies:
        for trial in study.trials:
            scores = [*(repr(score) for score in trial.scores), *[""] * (seeds - len(trial.scores))]
            hyper = json.dumps(dict(trial.settings.hyper), sort_keys=True)
            first = [study.study.data.label, study.study.loss.label, trial.number, hyper, repr(trial.settings.lr)]
            chosen = "yes" if trial is study.chosen else ""
            writer.writerow([*first, *scores, repr(round(trial.mean, DECIMALS)), trial.fate, chosen])
    return text.getvalue().encode()


def tuned_file(experiment: Experiment, budget: Budget, studies: Sequence[Progressing]) -> dict[str, Any]:
    """The same for the same trials, but for `made`."""
    datasets: dict[str, dict[str, Any]] = {}
    for study in studies:
        datasets.setdefault(study.study.data.label, {})[study.study.loss.label] = _choice(study)
    return {
        "experiment": experiment.name,
        "made": {
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "marginbench": _version("marginbench") or "unknown",
            "python": platform.python_version(),
            "torch": _version("torch") or "unknown",
            "optuna": _version("optuna"),
            "commit": commit(),
        },
        "budget": budget.model_dump(mode="json", exclude_none=True),
        "sampler": _sampler(budget, studies),
        "pruning": PRUNING if budget.seeds > 1 else "none: there is one seed",
        "datasets": datasets,
    }


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


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


class _Dumper(yaml.SafeDumper):
    """Quotes what another reader of YAML might take for a number, such as a commit of digits and an e."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if value[:1].isalpha() else '"')


_Dumper.add_representer(str, _text)


def as_yaml(content: dict[str, Any]) -> str:
    return str(yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000))
