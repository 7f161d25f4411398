"""The provenance of stored runs: versions, machine, commit, dates and training time."""

from collections import Counter
from collections.abc import Sequence

from benchmark.store import Run
from benchmark.text import counted, duration


def provenance(runs: Sequence[Run]) -> dict[str, str]:
    """Label → value; where runs differ, every value with the number of runs that have it."""
    if not runs:
        return {}
    runs = _each_once(runs)
    found = [run.cell["provenance"] for run in runs]
    days = sorted(str(one["begun"])[:10] for one in found)
    seconds = sum(float(one["seconds"]) for one in found)
    return {
        "Commit": _values([one["commit"] or "unknown" for one in found]),
        "Python": _values([one["python"] for one in found]),
        "torch": _values([one["torch"] for one in found]),
        "NumPy": _values([one["numpy"] for one in found]),
        "Machine": _values([one["machine"] for one in found]),
        "Device": _values([one["device"] for one in found]),
        "Trained": days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}",
        "Training time": f"{duration(seconds)} in all, {duration(seconds / len(runs))} per run",
    }


def provenance_sentence(runs: Sequence[Run]) -> str:
    """`Made from 55 runs: trained 2026-11-16; torch 2.13.0; …`; empty without a run."""
    parts = provenance(runs)
    if not parts:
        return ""
    trained, time = parts.pop("Trained"), parts.pop("Training time")
    rest = "; ".join(f"{name} {value}" for name, value in parts.items())
    return f"Made from {counted(len(_each_once(runs)), 'run')}, trained {trained} in {time}. {rest}."


def _each_once(runs: Sequence[Run]) -> list[Run]:
    """A run with several test sets comes once for each of them."""
    return list({run.id: run for run in runs}.values())


def _values(values: Sequence[object]) -> str:
    found = Counter(str(value) for value in values)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{value} ({counted(count, 'run')})" for value, count in sorted(found.items()))
