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
        f"To get it, do one of these:\n"
        f"- Put the files there by hand. They come from {homepage}.\n"
        f"- Have them downloaded. In the experiment file write\n"
        f"    datasets:\n"
        f"      - {name}: {{download: true}}\n"
        f"  or in Python load({name!r}, root, download=True).\n"
        f"- Name the folder that holds them: --data DIR, MARGINBENCH_DATA, or in Python root=."
        f"{' ' if hint else ''}{hint}"
    )
