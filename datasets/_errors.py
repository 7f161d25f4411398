"""The errors for wrong input and for missing data."""

from collections.abc import Iterable
from pathlib import Path


class InputError(ValueError):
    """Wrong input. The message says what came, what was expected and what to do."""


class MissingDataError(InputError, FileNotFoundError):
    """Missing data. The message says where it was looked for and how to get it."""


def missing(
    name: str, files: Iterable[str], looked_in: Iterable[Path], homepage: str, *, hint: str = ""
) -> MissingDataError:
    places = "\n".join(f"  {folder.absolute()}" for folder in looked_in)
    return MissingDataError(
        f"{name}: the data is not here. Looked for {', '.join(files)} in\n{places}\n"
        f"To get it: load({name!r}, root, download=True), or put the files there by hand; they come from "
        f"{homepage}. Another root is set by root= or MARGINBENCH_DATA.{' ' if hint else ''}{hint}"
    )
