"""The error for wrong input, and the hint at what was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class InputError(ValueError):
    """The input cannot be used. The message says what came, what is expected and what to do."""


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """`; did you mean 'arcface'?`, or nothing if no known name is similar."""
    near = get_close_matches(str(name)[:60], list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
