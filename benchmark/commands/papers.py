"""`table` and `claims`: compare what the papers published with what is measured here."""

from typing import Annotated

import typer

from benchmark.commands.command import command
from benchmark.commands.experiment import DryRun, Overrides
from benchmark.options import RunOptions


def add_to(app: typer.Typer) -> None:
    """Adds both to the command line."""
    command(app, "table")(table)
    command(app, "claims")(claims)


def table(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help="A built-in paper (see `list papers`), a paper file's path, or all.")
    ],
    options: RunOptions,
    scale: Annotated[
        str, typer.Option(metavar="smoke|cpu|full", help="Choose how much is trained, and on which data.")
    ] = "cpu",
    dry_run: DryRun = False,
    override: Overrides = [],  # noqa: B006 (typer copies it)
) -> None:
    """Make a paper's table: published beside measured values.

    It trains the cells that have no result yet, and says why values differ. Scale cpu takes minutes on a laptop and
    uses small data. Scale full uses the paper's own data, network and schedule. Scale smoke takes seconds and only
    shows that it works: its values mean nothing.

    \b
    Examples:
      python -m benchmark table arcface
      python -m benchmark table all --scale smoke
      python -m benchmark table adaacos --scale full --data where/the/data/is --device cuda
      python -m benchmark table all --scale full --engine ray --ray-address auto --device cuda
      python -m benchmark table arcface --scale full --override backbone=iresnet18 --override recipe.epochs=1
      python -m benchmark list papers
    """
    from benchmark import papers, spec
    from benchmark.dry_run import dry_run as dry
    from benchmark.errors import InputError

    if scale not in spec.SCALES:
        raise InputError(f"--scale {scale}: expected one of {', '.join(spec.SCALES)}")
    changed = {scale: override}
    chosen = [papers.load(name, changed) for name in (papers.names() if paper == "all" else [paper])]
    if dry_run:
        for one in papers.measured_at(scale, chosen):
            typer.echo(dry(one.scales[scale].experiment, options).as_text())
        return
    raise typer.Exit(papers.make_tables(chosen, scale, options))


def claims(
    options: RunOptions,
    run_first: Annotated[bool, typer.Option("--run", help="First train the cells that have no result.")] = False,
) -> None:
    """Test the papers' claims against the stored runs.

    Each claim is supported, refuted or not decided. Without stored runs, the ledger that comes with MarginBench is
    shown. The claims are files in benchmark/claims; the experiment `claims` has the cells that they need. Exit status
    1: some of the cells have no result.

    \b
    Examples:
      python -m benchmark claims
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
        raise typer.Exit(status or _show_committed(options, missing))
    typer.echo(ledger.as_text(found))
    typer.echo(f"\nledger: {ledger.write(found, options.results)}")
    if missing:
        typer.echo(f"some cells of the claims have no result; to run them: {' and '.join(missing)}", err=True)
    raise typer.Exit(status or (1 if missing else 0))


def _show_committed(options: RunOptions, missing: list[str]) -> int:
    """The ledger that comes with MarginBench, said to be that; the exit status."""
    from benchmark import claims as ledger
    from benchmark.dry_run import dry_run

    commands = " and ".join(missing)
    committed = ledger.committed_ledger(ledger.load_all())
    if committed is None:
        typer.echo(f"no claim can be judged: {options.results} has no runs of them; to run them: {commands}", err=True)
        return 1
    effort = ", ".join(
        dry_run(name, options).effort for name in dict.fromkeys(one.experiment for one in committed.claims)
    )
    typer.echo(
        f"{options.results} has no runs of the claims. This is the ledger that comes with MarginBench, from earlier "
        f"runs (results/reference/claims).\nTo run the claims here: {commands} ({effort})\n"
    )
    typer.echo(ledger.as_text(committed))
    return 0
