"""How tables name a loss or a dataset with its settings."""

from collections.abc import Mapping
from typing import Any

TUNED = " (tuned)"
"""How labels of tuned rows end, for readers: what is tuned is known by a field."""


def with_settings(name: str, settings: Mapping[str, Any]) -> str:
    """`arcface s=16 m=0.3`: the name, then what was given, in the order given."""
    return " ".join([name, *(f"{key}={short_value(value)}" for key, value in settings.items())])


def short_value(value: Any) -> str:
    """`0.3`, `auto` or `none`."""
    if isinstance(value, float):
        brief = f"{value:g}"
        return brief if float(brief) == value else repr(value)
    return "none" if value is None else str(value)
