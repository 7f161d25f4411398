"""Where stored runs come from, in words."""

from pathlib import Path
from typing import Any

from benchmark.provenance import provenance, provenance_sentence
from benchmark.store import Run


def run(number: int, **changed: Any) -> Run:
    provenance = {
        "commit": "abc",
        "python": "3.11.7",
        "torch": "2.13.0",
        "numpy": "2.4.0",
        "machine": "Linux x86_64",
        "device": "cpu",
        "begun": "2026-11-16T10:00:00Z",
        "seconds": 30.0,
        **changed,
    }
    return Run(f"{number:016x}", {"provenance": provenance}, {}, Path())


def test_runs_made_alike() -> None:
    said = "Made from 2 runs, trained 2026-11-16 in 60 s in all, 30 s per run. Commit abc; Python 3.11.7; "
    said += "torch 2.13.0; NumPy 2.4.0; Machine Linux x86_64; Device cpu."
    assert provenance_sentence([run(0), run(1)]) == said
    assert provenance_sentence([]) == ""


def test_runs_made_differently_are_counted() -> None:
    runs = [run(0), run(1, torch="2.14.0", commit=None), run(2, begun="2026-11-18T10:00:00Z")]
    found = provenance(runs)
    assert found["torch"] == "2.13.0 (2 runs), 2.14.0 (1 run)"
    assert found["Commit"] == "abc (2 runs), unknown (1 run)"
    assert found["Trained"] == "2026-11-16 to 2026-11-18"
