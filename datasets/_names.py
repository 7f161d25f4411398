"""Quotes values, lists names and suggests similar names, for messages."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

ONLY_TEST = "test"
"""The name of the test set of a dataset that has one and does not name it."""

LONGEST_SHOWN = 60


def shown(value: Any) -> str:
    """A value as an error message quotes it: on one line, and short."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def listed(names: Iterable[Any]) -> str:
    """`a, b, c`, or `none`."""
    return ", ".join(str(name) for name in names) or "none"


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """`; did you mean 'arcface'?`, or nothing if no known name is similar."""
    near = get_close_matches(str(name)[:LONGEST_SHOWN], list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown(noun: str, name: Any, known: Iterable[str], instead: str = "") -> str:
    """`there is no dataset 'digit'; did you mean 'digits'? (there are digits, glyphs)`."""
    known = list(known)
    choices = f"there are {listed(known)}" + (f"; {instead}" if instead else "")
    return f"there is no {noun} {shown(name)}{did_you_mean(name, known)} ({choices})"
