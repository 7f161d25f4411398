"""Looking up optimisers, schedules and augmentations by the names that experiment files use."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from benchmark.errors import InputError

T = TypeVar("T")


def named(kind: str, name: str, known: Mapping[str, T]) -> T:
    """What goes by this name, or `ValueError` with the nearest one."""
    if name in known:
        return known[name]
    near = get_close_matches(str(name), list(known), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(f"no {kind} is named {name!r}{hint} (there are: {', '.join(known)})")
