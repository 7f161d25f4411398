"""Options of the command line that several commands have: on which engine cells are run."""

from typing import Annotated

import typer

from benchmark.cores import usable_cores

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
