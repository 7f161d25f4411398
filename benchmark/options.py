"""The options of a run: which cells are run, where and how. Command line, notebooks and scripts share them.

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

            raise InputError(f"{option} {text}: expected numbers separated by commas, such as {self.example}") from None


Plugins = Annotated[
    list[Path],
    typer.Option(
        "--plugin", metavar="FILE", help="Load your own losses, datasets, metrics, … from a Python file; repeatable."
    ),
]
Results = Annotated[
    Path, typer.Option("--results", metavar="DIR", envvar="MARGINBENCH_RESULTS", help="The folder of the results.")
]


@dataclass(frozen=True)
class RunOptions:
    """Which cells of an experiment are run, where, and what is kept."""

    losses: Annotated[
        list[str] | None, Commas(), typer.Option(metavar="A,B", help="Run only these losses, separated by commas.")
    ] = None
    datasets: Annotated[
        list[str] | None, Commas(), typer.Option(metavar="A,B", help="Run only these datasets, separated by commas.")
    ] = None
    seeds: Annotated[
        list[int] | None,
        Commas(int, "0,1,2"),
        typer.Option(metavar="A,B", help="Run only these seeds, separated by commas."),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Run this many cells at a time. The default is one per core, on Ray as many as fit."),
    ] = None
    engine: Annotated[
        str,
        typer.Option(
            metavar="local|ray", help="Run cells in processes of this machine (local) or on a Ray cluster (ray)."
        ),
    ] = "local"
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Use the Ray cluster at auto or HOST:PORT. Without it, a cluster is started here for this run.",
        ),
    ] = None
    device: Annotated[str, typer.Option(help="Train on cpu, cuda or cuda:N.")] = "cpu"
    plugins: Plugins = field(default_factory=list)
    results: Results = Path("results")
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", envvar="MARGINBENCH_DATA", help="The folder of the datasets; ./data by default."),
    ] = None
    keep_models: Annotated[bool, typer.Option("--keep-models", help="Store the trained networks too.")] = False
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed cells again.")] = False

    def workers_for(self, jobs: int) -> int:
        """Cells at a time. 0, only on Ray, means as many as fit."""
        return min(self.workers or (0 if self.engine == "ray" else usable_cores()), max(1, jobs))
