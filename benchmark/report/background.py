"""What the figures rest on: settings, versions, machine and commit of the stored runs."""

from collections import Counter
from typing import Any

from benchmark.cell import PROTOCOL_VERSION
from benchmark.collected import Collected
from benchmark.report.wording import counted

LARGEST_FILE = 100_000  # characters of an experiment file that are shown


def background(collected: Collected) -> list[tuple[str, str]]:
    """Pairs of a word and its answer; where runs differ, every value with the number of runs that have it."""
    experiment, runs = collected.experiment, collected.runs
    origins = [run.cell["provenance"] for run in runs]
    days = sorted(str(origin["begun"])[:10] for origin in origins)
    seconds = sum(float(origin["seconds"]) for origin in origins)
    cells = len(runs) + len(collected.missing)
    return [
        ("Experiment", f"{experiment.name}: {experiment.description}".removesuffix(": ")),
        ("Runs", f"{len(runs)} of {cells} cells have a result; seeds {', '.join(map(str, experiment.seeds))}"),
        ("Baseline", experiment.baseline),
        ("Protocol", f"version {PROTOCOL_VERSION}"),
        ("Commit", _values(origin["commit"] or "unknown" for origin in origins)),
        ("Python", _values(origin["python"] for origin in origins)),
        ("torch", _values(origin["torch"] for origin in origins)),
        ("NumPy", _values(origin["numpy"] for origin in origins)),
        ("Machine", _values(origin["machine"] for origin in origins)),
        ("Device", _values(origin["device"] for origin in origins)),
        ("Trained", days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"),
        ("Training time", f"{_in_words(seconds)} in all, {seconds / len(runs):.1f} s a run"),
    ]


def experiment_text(collected: Collected) -> str:
    """The experiment's file as it is now."""
    text = collected.experiment.path.read_text(encoding="utf-8", errors="replace")
    return text if len(text) <= LARGEST_FILE else f"{text[:LARGEST_FILE]}\n… ({len(text):,} characters in all)"


def _values(values: Any) -> str:
    found = Counter(str(value) for value in values)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{value} ({counted(count, 'run')})" for value, count in sorted(found.items()))


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
