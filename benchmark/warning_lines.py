"""Warnings as lines that a person reads: `warning: …` on stderr, without file and source line, each once per run."""

import sys
import warnings
from collections.abc import Iterable
from typing import TextIO

_shown: dict[str, None] = {}  # in their order


def show_as_lines(already: Iterable[str] = ()) -> None:
    """Replaces Python's way of showing warnings, for this process. Those in `already` are not shown again."""
    _shown.update(dict.fromkeys(already))
    warnings.showwarning = _show


def shown_so_far() -> tuple[str, ...]:
    """What this process has shown, so that its workers need not repeat it."""
    return tuple(_shown)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    text = str(message)
    if text not in _shown:
        _shown[text] = None
        print(f"warning: {text}", file=file or sys.stderr, flush=True)
