"""Options of the command line that several commands have, and how what they are given is read."""

from pathlib import Path
from typing import Annotated

import typer

from benchmark.cores import usable_cores
from benchmark.errors import InputError

Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE", help="A Python file with losses of your own; repeatable."),
]
Results = Annotated[
    Path, typer.Option("--results", metavar="DIR", envvar="MARGINBENCH_RESULTS", help="Where results are kept.")
]
DataFolder = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", envvar="MARGINBENCH_DATA", help="Where datasets are; ./data by default."),
]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="local: processes of this machine; ray: a Ray cluster.")
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        metavar="ADDRESS",
        help="auto or HOST:PORT, with --engine ray; without it a cluster is started on this machine, and stopped.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Cells at a time; one per core by default, on Ray as many as there is room for."),
]


def workers_at_a_time(asked: int | None, engine: str) -> int:
    """0: as many as there is room for, which only a cluster knows."""
    return asked or (0 if engine == "ray" else usable_cores())


def names_in(text: str | None) -> list[str] | None:
    """`a,b` as a list; None where nothing was given."""
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def seeds_in(text: str | None) -> list[int] | None:
    try:
        return [int(part) for part in names_in(text) or []] or None
    except ValueError:
        raise InputError(f"--seeds {text}: expected numbers with commas between them, such as 0,1,2") from None
