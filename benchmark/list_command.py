"""`list`: datasets, backbones, experiments, papers and losses."""

import typer

from benchmark.options import Plugins

listing = typer.Typer(help="List what there is.", no_args_is_help=True)


@listing.command("datasets")
def list_datasets() -> None:
    """The datasets and wrappers with their options, defaults and ranges."""
    import datasets

    for name in [*datasets.names(), *datasets.wrapper_names()]:
        typer.echo(f"{name}: {datasets.summary(name)}")
        for key, option in datasets.options(name).items():
            typer.echo(f"    {key} = {option.default!r}: {option.meaning} ({option.allowed()})")


@listing.command("backbones")
def list_backbones() -> None:
    """The backbones."""
    from benchmark import backbones

    for name in backbones.names():
        typer.echo(name)


@listing.command("experiments")
def list_experiments() -> None:
    """The experiments that come with MarginBench."""
    from benchmark import spec

    for name in spec.names():
        typer.echo(f"{name}: {spec.describe(name)}")


@listing.command("papers")
def list_papers() -> None:
    """The papers whose tables `table` makes."""
    from benchmark import papers

    for name in papers.names():
        typer.echo(f"{name}: {papers.load(name).title}")


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
            searched = f"; searched: {hyper.search.in_words()}" if hyper.search else ""
            typer.echo(f"    {key} = {hyper.default!r}: {hyper.meaning} ({hyper.allowed()}{searched})")
