"""`advise`, and `maps`, which writes the file of measurements that it reads."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.command import command
from benchmark.options import Results

if TYPE_CHECKING:
    from benchmark.tables import Table


class Format(StrEnum):
    terminal = "terminal"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    csv = "csv"


def advise(
    classes: Annotated[int | None, typer.Option(help="The number of classes that you train on.")] = None,
    dim: Annotated[int | None, typer.Option(help="The dimensions of your embedding, for the bounds on m.")] = None,
    images_per_class: Annotated[float | None, typer.Option(help="Your training images per class, on average.")] = None,
    gap: Annotated[float, typer.Option(help="The average angular gap for ArcGrad's rules, in radians.")] = 1.0,
    maps: Annotated[Path | None, typer.Option(metavar="FILE", help="Read measurements from this file instead.")] = None,
    table: Annotated[bool, typer.Option("--table", help="Print every rule's s for many numbers of classes.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw s by classes; a .png or .svg file.")] = None,
    form: Annotated[Format, typer.Option("--format", help="Print tables in this format.")] = Format.terminal,
) -> None:
    """Recommend s and m for a number of classes.

    The first sentence is the advice. Below it are the settings that were best near that number of classes, and what
    the papers' rules give.

    \b
    Examples:
      python -m benchmark advise --classes 47
      python -m benchmark advise --classes 1000 --dim 128 --images-per-class 20
      python -m benchmark advise --table --format markdown
      python -m benchmark advise --classes 1000 --plot scales.png
    """
    from benchmark.advice import tables
    from benchmark.advice.advice import Case
    from benchmark.advice.advice import advise as work_out
    from benchmark.advice.headline import headline
    from benchmark.advice.maps_file import find_maps, read_maps
    from benchmark.errors import InputError

    if classes is None and not table and plot is None:
        raise InputError("advise needs --classes C, the number of classes you train on (or --table, or --plot FILE)")
    case = Case(classes if classes is not None else 2, dim, images_per_class, gap)
    place = maps or find_maps()
    stored = None if place is None else read_maps(place)
    asked = case if classes is not None else None
    if plot is not None:
        _draw(plot, stored, gap, classes)
    if table:
        _print([tables.classes_table(asked, dim, gap, stored)], form)
    elif asked is not None:
        advice = work_out(asked, stored)
        for line in [*headline(advice), ""]:
            typer.echo(line, err=form is Format.csv)
        _print([tables.losses_table(advice), tables.rules_table(asked)], form)
        for line in tables.remarks(advice):
            typer.echo(line, err=form is Format.csv)


def export_maps(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="An experiment that was run: a name or a path.")
    ],
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: results/reference/EXPERIMENT/maps.csv.")
    ] = None,
    results: Results = Path("results"),
) -> None:
    """Write an experiment's measurements for `advise` to read.

    \b
    Example:
      python -m benchmark maps scale-or-margin
    """
    from benchmark import spec
    from benchmark.advice import export_maps
    from benchmark.advice.maps_file import read_maps
    from benchmark.results import collect
    from benchmark.text import counted

    collected = collect(spec.load(experiment), results)
    path = to or export_maps.default_place(collected.experiment.name, results)
    count = export_maps.export(collected, path)
    read_maps(path)
    typer.echo(f"maps: {path} ({counted(count, 'setting')})")
    if collected.missing:
        cells = counted(len(collected.missing), "cell")
        typer.echo(f"note: the file lacks {cells} without a result", err=True)


def add_to(app: typer.Typer) -> None:
    """Adds both to the command line."""
    command(app, "advise")(advise)
    command(app, "maps")(export_maps)


def _print(tables: "list[Table]", form: Format) -> None:
    from benchmark import tables as writers

    write = getattr(writers, f"as_{form}")
    for table in tables:
        typer.echo(str(write(table)) + ("\n" if form is Format.terminal else ""))


def _draw(path: Path, stored: object, gap: float, classes: int | None) -> None:
    from benchmark.advice.maps_file import Map
    from benchmark.advice.picture import figure
    from benchmark.errors import InputError
    from benchmark.plots import as_png, as_svg
    from datasets._files import write_atomically

    if path.suffix not in (".png", ".svg"):
        raise InputError(f"--plot {path}: expected a name that ends in .png or .svg")
    drawn = figure(stored if isinstance(stored, Map) else None, gap, classes)
    write_atomically(path, as_png(drawn) if path.suffix == ".png" else as_svg(drawn))
    typer.echo(f"plot: {path}")
