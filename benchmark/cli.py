"""The command line. Exit 0: all is well; 1: something failed and is named; 2: the call is wrong."""

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Which angular-margin loss should I use, and does the difference survive a fair test?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
listing = typer.Typer(help="List what there is.", no_args_is_help=True)
app.add_typer(listing, name="list")

Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE", help="A Python file with losses of your own; repeatable."),
]
Names = Annotated[list[str] | None, typer.Argument(metavar="[LOSS]...", help="Losses to check; all by default.")]


@app.command()
def audit(
    names: Names = None,
    plugin: Plugins = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check that losses keep their promises: gradients, limits, half precision, state.

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
    for file in plugin or []:
        losses.load_plugin(file)
    chosen = names or losses.names()
    for name in chosen:
        losses.get(name)
    progress = tqdm(run(chosen), total=len(chosen) * len(CHECKS), desc="audit", leave=False, disable=None)
    outcomes = list(progress)
    typer.echo(as_json(outcomes) if json else as_table(outcomes))
    failed = any(outcome.verdict == "fail" for outcome in outcomes)
    for reason in {} if names else losses.broken().values():
        typer.echo(f"✗ could not be imported: losses/{reason}", err=json)
        failed = True
    raise typer.Exit(1 if failed else 0)


@listing.command("losses")
def list_losses(plugin: Plugins = None) -> None:
    """The losses with their hyper-parameters, defaults and ranges."""
    import losses

    for file in plugin or []:
        losses.load_plugin(file)
    for name in losses.names():
        loss = losses.get(name)
        typer.echo(f"{name}: {(loss.__doc__ or '').strip().splitlines()[0] if loss.__doc__ else ''}")
        for key, hyper in loss.hyper.items():
            typer.echo(f"    {key} = {hyper.default!r}: {hyper.meaning} ({hyper.allowed()})")


def main() -> None:
    """Runs the command line; wrong input ends in one readable message and exit 2."""
    try:
        app()
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
