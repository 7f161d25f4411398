"""How messages name what is there and what was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

LONGEST_NAME = 60


def listed(names: Iterable[Any]) -> str:
    """`a, b, c`, or `none`."""
    return ", ".join(str(name) for name in names) or "none"


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """`; did you mean 'arcface'?`, or nothing if no known name is similar."""
    near = get_close_matches(str(name)[:LONGEST_NAME], list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown(noun: str, name: Any, known: Iterable[str]) -> str:
    """`there is no dataset 'digit'; did you mean 'digits'? (there are digits, glyphs)`."""
    known = list(known)
    shown = repr(name) if len(repr(name)) <= LONGEST_NAME else repr(name)[: LONGEST_NAME - 1] + "…"
    return f"there is no {noun} {shown}{did_you_mean(name, known)} (there are {listed(known)})"
