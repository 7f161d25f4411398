"""`table` and `claims`: what the papers published, compared with what is measured here."""

from typing import Annotated

import typer

from benchmark.commands.command import command
from benchmark.commands.experiment import DryRun
from benchmark.options import RunOptions


def add_to(app: typer.Typer) -> None:
    """Adds both to the command line."""
    command(app, "table")(table)
    command(app, "claims")(claims)


def table(
    paper: Annotated[str, typer.Argument(help="The name of a built-in paper, a path to a paper file, or all.")],
    options: RunOptions,
    scale: Annotated[str, typer.Option(metavar="smoke|cpu|full", help="How much is trained, and on what.")] = "cpu",
    dry_run: DryRun = False,
) -> None:
    """Does a paper's table hold? Published and measured values side by side, with the reasons they differ.

    Trains what has no result yet. Scale cpu takes minutes on a laptop, on data that it can train on; full is the
    paper's own data, network and schedule; smoke takes seconds and its values mean nothing.

    \b
    Examples:
      python -m benchmark table arcface
      python -m benchmark table all --scale smoke
      python -m benchmark table adaacos --scale full --data where/the/data/is --device cuda
      python -m benchmark table all --scale full --engine ray --ray-address auto --device cuda
      python -m benchmark list papers
    """
    from benchmark import papers, spec
    from benchmark.dry_run import dry_run as dry
    from benchmark.errors import InputError

    if scale not in spec.SCALES:
        raise InputError(f"--scale {scale}: expected one of {', '.join(spec.SCALES)}")
    chosen = [papers.load(name) for name in (papers.names() if paper == "all" else [paper])]
    if dry_run:
        for one in chosen:
            typer.echo(dry(one.scales[scale].experiment, options).as_text())
        return
    raise typer.Exit(papers.make_tables(chosen, scale, options))


def claims(
    options: RunOptions,
    run_first: Annotated[bool, typer.Option("--run", help="Train the cells that have no result first.")] = False,
) -> None:
    """Say of each of the papers' claims whether the stored runs support it, refute it or do not decide.

    The claims are files in benchmark/claims, the cells that they need are the experiment `claims`. Exit 1 where some of
    them were not run.

    \b
    Examples:
      python -m benchmark claims --run
      python -m benchmark claims --run --engine ray --ray-address auto
      python -m benchmark claims --results somewhere
    """
    from benchmark import claims as ledger

    known = ledger.load_all()
    status = ledger.run_missing(known, options) if run_first else 0
    found = ledger.ledger_of(known, options.results)
    missing = ledger.commands_for_missing(found, options.results)
    if all(finding.verdict == ledger.NOT_RUN for finding in found.findings):
        commands = " and ".join(missing)
        typer.echo(f"no claim can be judged, {options.results} has no results for them: {commands}", err=True)
        raise typer.Exit(status or 1)
    typer.echo(ledger.as_text(found))
    typer.echo(f"\nledger: {ledger.write(found, options.results)}")
    if missing:
        typer.echo(f"some claims were not run, or only in part: {' and '.join(missing)}", err=True)
    raise typer.Exit(status or (1 if missing else 0))
