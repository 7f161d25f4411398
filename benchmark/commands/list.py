"""`list`: losses, datasets, backbones, metrics, plots, experiments and papers."""

import typer

from benchmark.commands.command import command

listing = typer.Typer(help="List what there is.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    app.add_typer(listing, name="list")


@command(listing, "losses")
def list_losses() -> None:
    """The losses with their hyper-parameters, defaults and ranges."""
    import losses

    for name in losses.names():
        loss = losses.get(name)
        typer.echo(f"{name}: {_first_line(loss)}")
        for key, hyper in loss.hyper.items():
            searched = f"; searched: {hyper.search.in_words()}" if hyper.search else ""
            typer.echo(f"    {key} = {hyper.default!r}: {hyper.meaning} ({hyper.allowed()}{searched})")


@command(listing, "datasets")
def list_datasets() -> None:
    """The datasets and wrappers with their options, defaults and ranges."""
    import datasets

    for name in [*datasets.names(), *datasets.wrapper_names()]:
        typer.echo(f"{name}: {datasets.summary(name)}")
        for key, option in datasets.options(name).items():
            typer.echo(f"    {key} = {option.default!r}: {option.meaning} ({option.allowed()})")


@command(listing, "backbones")
def list_backbones() -> None:
    """The backbones."""
    from benchmark import backbones

    for name in backbones.names():
        typer.echo(f"{name}: {_first_line(backbones.get(name))}")


@command(listing, "metrics")
def list_metrics() -> None:
    """The metrics that tables show, with their keys."""
    from benchmark.metrics import columns

    for column in columns():
        typer.echo(f"{column.key}: {column.title}: {column.meaning}")


@command(listing, "plots")
def list_plots() -> None:
    """The plots of a report, in its order."""
    from benchmark import plots

    for name in plots.names():
        typer.echo(name)


@command(listing, "experiments")
def list_experiments() -> None:
    """The experiments that come with MarginBench."""
    from benchmark import spec

    for name in spec.names():
        typer.echo(f"{name}: {spec.describe(name)}")


@command(listing, "papers")
def list_papers() -> None:
    """The papers whose tables `table` makes."""
    from benchmark import papers

    for name in papers.names():
        typer.echo(f"{name}: {papers.load(name).title}")


def _first_line(component: type) -> str:
    return (component.__doc__ or "").strip().partition("\n")[0]
