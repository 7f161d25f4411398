"""What the results rest on: tuning, settings, versions, machine and commit of the stored runs."""

from benchmark.cell import PROTOCOL_VERSION
from benchmark.pages import Facts
from benchmark.provenance import provenance
from benchmark.results import ExperimentResults
from benchmark.spec import Experiment
from benchmark.text import counted, short

LARGEST_FILE = 100_000  # characters of an experiment file that are shown


def background(collected: ExperimentResults) -> Facts:
    """Label → value; where runs differ, every value with the number of runs that have it."""
    experiment, runs = collected.experiment, collected.runs
    cells = len(runs) + len(collected.missing)
    trained = list({run.id: run for run in runs}.values())  # a row and its tuned one may share theirs
    return [
        ("Experiment", ": ".join(filter(None, (experiment.name, experiment.description)))),
        ("Runs", f"{len(runs)} of {cells} cells have a result; seeds {', '.join(map(str, experiment.seeds))}"),
        ("Baseline", experiment.baseline),
        ("Protocol", f"version {PROTOCOL_VERSION}"),
        *provenance(trained).items(),
    ]


def experiment_text(collected: ExperimentResults) -> str:
    """The experiment's file as it is now."""
    text = collected.experiment.path.read_text(encoding="utf-8", errors="replace")
    return text if len(text) <= LARGEST_FILE else f"{text[:LARGEST_FILE]}\n… ({len(text):,} characters in all)"


def tuning_in_words(experiment: Experiment) -> str:
    """What a reader must know of tuned rows; empty without any."""
    tuned = experiment.tuned
    if tuned is None:
        return ""
    budget, made = tuned.budget, tuned.made
    chosen = ", ".join(map(short, budget.learning_rates or ()))
    rates = f" Learning rates are of {chosen}." if chosen else ""
    others = any(row.tuned is None for row in experiment.losses)
    beside = " The other rows have the experiment's own settings." if others else ""
    before = sorted({one.date for one in tuned.earlier} - {made.date})
    partly = f" (in part on {', '.join(before)})" if before else ""
    return (
        f"Rows marked “(tuned)” have settings that were chosen on validation data alone, for each dataset: at most "
        f"{counted(budget.trials, 'trial')} of {counted(budget.seeds, 'seed')} for every loss ({tuned.sampler})."
        f"{rates} Pruning: {tuned.pruning}. They come from {tuned.path.name}, made on {made.date}{partly} with the "
        f"experiment {tuned.experiment} at commit {made.commit or 'unknown'}.{beside}"
    )
