"""`audit`: checks the properties that every loss must have."""

from typing import Annotated

import typer

from benchmark.commands.command import command


def add_to(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    command(app, "audit")(audit)


def audit(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="LOSS", help="The losses to check; all by default.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check the properties that every loss must have.

    Among them are gradients, limits, half precision and state. Exit status 1: a loss fails a check.

    \b
    Examples:
      python -m benchmark audit
      python -m benchmark audit arcface cosface
      python -m benchmark audit myloss --plugin path/to/myloss.py
    """
    import torch
    from tqdm import tqdm

    import losses
    from benchmark.audit import CHECKS, as_json, as_table
    from benchmark.audit import audit as run

    torch.set_num_threads(1)
    chosen = names or losses.names()
    for name in chosen:
        losses.get(name)
    progress = tqdm(run(chosen), total=len(chosen) * len(CHECKS), desc="audit", leave=False, disable=None)
    outcomes = list(progress)
    typer.echo(as_json(outcomes) if json else as_table(outcomes))
    failed = any(outcome.verdict == "fail" for outcome in outcomes)
    for reason in {} if names else losses.broken().values():
        typer.echo(f"✗ could not be imported: {reason}", err=json)
        failed = True
    raise typer.Exit(1 if failed else 0)
