"""The leaderboard's commands: `leaderboard [LOSS…]`, `verify`, `site` and `schema`, and `new-loss`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from benchmark.commands.command import Without, command
from benchmark.options import Results, RunOptions


class RunByDefault(TyperGroup):
    """`leaderboard arcface` is short for `leaderboard run arcface`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)


board = typer.Typer(
    help="Make, check and show the entries of the leaderboard.\n\nWithout the name of a command: run.",
    cls=RunByDefault,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Experiment = Annotated[str, typer.Option(help="The experiment that makes entries.")]
EntriesFolder = Annotated[
    Path | None,
    typer.Option("--entries", metavar="DIR", help="The folder of the entries; RESULTS/EXPERIMENT/entries by default."),
]


@command(board, "run")
def run(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="LOSS", help="The losses to enter; all by default.")
    ] = None,
    *,
    options: Annotated[RunOptions, Without(("losses", "datasets", "seeds", "retry_failed"))],
    experiment: Experiment = "leaderboard",
    entries: EntriesFolder = None,
) -> None:
    """Audit losses, run their cells and write their entries.

    At the end it shows where they stand.

    A loss with an up-to-date entry is not run again. To make its entry again, delete the entry's file first.

    \b
    Examples:
      python -m benchmark leaderboard
      python -m benchmark leaderboard myloss
      python -m benchmark leaderboard myloss --plugin path/to/myloss.py
      python -m benchmark leaderboard --engine ray --ray-address auto --device cuda
    """
    from dataclasses import replace

    from benchmark.leaderboard import submit, text

    options = replace(options, losses=list(dict.fromkeys(names)) if names else None)
    asked = submit.experiment_of(experiment, options.losses)
    folder = entries or options.results / asked.name / "entries"
    done = submit.submit(experiment, options, folder)
    found, read = submit.current(asked, folder, options.results)
    for line in text.left_aside(found, read):
        typer.echo(line, err=True)
    if found.current is None:
        typer.echo(f"no entry in {folder} counts yet")
    elif names:
        chosen = [entry for entry in done.entries if entry.label in found.current.entries]
        typer.echo(text.of_each(found.current, chosen))
    else:
        typer.echo(text.whole_table(found.current))
    raise typer.Exit(done.status)


@command(board, "verify")
def verify(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="The entries to check; all by default.")
    ] = None,
    experiment: Experiment = "leaderboard",
    results: Results = Path("results"),
    entries: EntriesFolder = None,
) -> None:
    """Check entries.

    It checks their form, that ids follow from settings, and that metrics follow from the embeddings stored here.

    \b
    Examples:
      python -m benchmark leaderboard verify
      python -m benchmark leaderboard verify results/leaderboard/entries/arcface-1f0c55aa.json
    """
    from tqdm import tqdm

    from benchmark import spec
    from benchmark.leaderboard import verify as checking
    from benchmark.leaderboard.entry_files import EntryError, read_entry
    from benchmark.store import Store

    name = spec.load(experiment).name
    folder = entries or results / name / "entries"
    chosen = files or sorted(folder.glob("*.json"))
    if not chosen:
        from benchmark.errors import InputError

        raise InputError(
            f"there are no entries in {folder}: make some with `python -m benchmark leaderboard`, or name --entries"
        )
    refused = 0
    for file in tqdm(chosen, desc="verify", leave=False, disable=None):
        try:
            verdict = checking.verify(read_entry(file), Store(results, name))
        except EntryError as problem:
            typer.echo(f"refused: {problem}")
            refused += 1
            continue
        for reason in verdict.problems:
            typer.echo(f"refused: {file.name}: {reason}")
        refused += verdict.is_refused
        if not verdict.is_refused:
            typer.echo(verdict.in_words(file.name))
    typer.echo(f"{'1 entry' if len(chosen) == 1 else f'{len(chosen):,} entries'}, {refused} refused")
    raise typer.Exit(1 if refused else 0)


@command(board, "site")
def site(
    experiment: Experiment = "leaderboard",
    results: Results = Path("results"),
    entries: EntriesFolder = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Write the site here; RESULTS/site by default.")
    ] = None,
    pictures: Annotated[bool, typer.Option(help="Draw curves and embeddings, which takes seconds per loss.")] = True,
) -> None:
    """Write the leaderboard as a static site.

    It has the standings, a page for each loss, and a page that compares two losses.

    \b
    Example:
      python -m benchmark leaderboard site
    """
    from benchmark import spec
    from benchmark.leaderboard import submit, text
    from benchmark.leaderboard.site import build, write_site
    from benchmark.store import Store

    asked = spec.load(experiment).without_tuned
    found, read = submit.current(asked, entries or results / asked.name / "entries", results)
    for line in text.left_aside(found, read):
        typer.echo(line, err=True)
    files = build(found, read, Store(results, asked.name) if pictures else None)
    typer.echo(f"site: {write_site(files, to or results / 'site')}")


@command(board, "schema", plugins=False)
def schema() -> None:
    """Print the JSON Schema of an entry."""
    from benchmark.leaderboard.entries import schema as text

    typer.echo(text(), nl=False)


def new_loss(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the new loss, such as my_loss.")],
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write it here, for use with --plugin, instead of losses/.")
    ] = None,
) -> None:
    """Write a file with a working loss, for you to change.

    \b
    Example:
      python -m benchmark new-loss my_loss
    """
    from benchmark.leaderboard.scaffold import write_template

    path = write_template(name, folder)
    option = f" --plugin {path}" if folder else ""
    typer.echo(f"{path} is a loss that works. Change it into yours, then run")
    typer.echo(f"  python -m benchmark audit {name}{option}")
    typer.echo(f"  python -m benchmark leaderboard {name}{option}")


def add_to(app: typer.Typer) -> None:
    """Adds the leaderboard's commands to the command line."""
    app.add_typer(board, name="leaderboard")
    command(app, "new-loss", plugins=False)(new_loss)
