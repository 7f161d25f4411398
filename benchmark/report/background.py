"""What the figures rest on: settings, versions, machine and commit of the stored runs."""

from benchmark.cell import PROTOCOL_VERSION
from benchmark.provenance import provenance
from benchmark.results import ExperimentResults

LARGEST_FILE = 100_000  # characters of an experiment file that are shown


def background(collected: ExperimentResults) -> list[tuple[str, str]]:
    """Pairs of a word and its answer; where runs differ, every value with the number of runs that have it."""
    experiment, runs = collected.experiment, collected.runs
    cells = len(runs) + len(collected.missing)
    trained = list({run.id: run for run in runs}.values())  # a row and its tuned one may share theirs
    return [
        ("Experiment", f"{experiment.name}: {experiment.description}".removesuffix(": ")),
        ("Runs", f"{len(runs)} of {cells} cells have a result; seeds {', '.join(map(str, experiment.seeds))}"),
        ("Baseline", experiment.baseline),
        ("Protocol", f"version {PROTOCOL_VERSION}"),
        *provenance(trained).items(),
    ]


def experiment_text(collected: ExperimentResults) -> str:
    """The experiment's file as it is now."""
    text = collected.experiment.path.read_text(encoding="utf-8", errors="replace")
    return text if len(text) <= LARGEST_FILE else f"{text[:LARGEST_FILE]}\n… ({len(text):,} characters in all)"
