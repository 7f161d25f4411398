"""The options of a run: what the command line, notebooks and scripts say about which cells are run, where and how.

Each option is declared once, with its help; `benchmark.commands.command` makes command-line options of the fields.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmark.cores import usable_cores

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


@dataclass(frozen=True)
class Commas:
    """A list that the command line takes as one text: `a,b,c`."""

    kind: Callable[[str], Any] = str
    example: str = "a,b"

    def read(self, option: str, text: str | None) -> list[Any] | None:
        """None if nothing was given."""
        parts = [part.strip() for part in (text or "").split(",") if part.strip()]
        try:
            return [self.kind(part) for part in parts] or None
        except ValueError:
            from benchmark.errors import InputError  # imports torch, which a call without mistakes may not need

            raise InputError(
                f"{option} {text}: expected numbers with commas between them, such as {self.example}"
            ) from None


Plugins = Annotated[
    list[Path],
    typer.Option(
        "--plugin", metavar="FILE", help="A Python file with losses, datasets, metrics, … of your own; repeatable."
    ),
]
Results = Annotated[
    Path, typer.Option("--results", metavar="DIR", envvar="MARGINBENCH_RESULTS", help="Where results are stored.")
]


@dataclass(frozen=True)
class RunOptions:
    """Which cells of an experiment are run, where, and what is kept."""

    losses: Annotated[
        list[str] | None, Commas(), typer.Option(metavar="A,B", help="Only these losses, separated by commas.")
    ] = None
    datasets: Annotated[
        list[str] | None, Commas(), typer.Option(metavar="A,B", help="Only these datasets, separated by commas.")
    ] = None
    seeds: Annotated[
        list[int] | None,
        Commas(int, "0,1,2"),
        typer.Option(metavar="A,B", help="Only these seeds, separated by commas."),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Cells at a time; one per core by default, on Ray as many as there is room for."),
    ] = None
    engine: Annotated[
        str, typer.Option(metavar="local|ray", help="local: processes of this machine; ray: a Ray cluster.")
    ] = "local"
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="auto or HOST:PORT, with --engine ray; without it the run starts a cluster here and stops it.",
        ),
    ] = None
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu"
    plugins: Plugins = field(default_factory=list)
    results: Results = Path("results")
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", envvar="MARGINBENCH_DATA", help="Where datasets are; ./data by default."),
    ] = None
    keep_models: Annotated[bool, typer.Option("--keep-models", help="Keep the trained networks.")] = False
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run cells again that failed before.")] = False

    def workers_for(self, jobs: int) -> int:
        """Cells at a time; 0, on Ray alone: as many as there is room for."""
        return min(self.workers or (0 if self.engine == "ray" else usable_cores()), max(1, jobs))
