"""The command `tune EXPERIMENT`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.errors import InputError
from benchmark.options import (
    DataFolder,
    EngineName,
    Plugins,
    RayAddress,
    Results,
    Workers,
    names_in,
    workers_at_a_time,
)

if TYPE_CHECKING:
    from benchmark.spec import Budget


def tune(
    experiment: Annotated[str, typer.Argument(help="A shipped experiment's name, or a path to a YAML file.")],
    trials: Annotated[
        int | None, typer.Option(min=1, help="Settings to try for each loss on each dataset; 12 by default.")
    ] = None,
    tuning_seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds that each setting is trained with; 2 by default.")
    ] = None,
    learning_rates: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="The learning rates to choose from; by default any within 4 times the recipe's."
        ),
    ] = None,
    losses: Annotated[str | None, typer.Option(help="Only these losses, with commas between them.")] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these datasets, with commas between them.")] = None,
    workers: Workers = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    plugin: Plugins = None,
    results: Results = Path("results"),
    data: DataFolder = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write the settings; RESULTS/EXPERIMENT/tuned.yaml by default."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="List the studies with an estimate of their time.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed runs again.")] = False,
) -> None:
    """Choose each loss's settings by validation data, with the same number of trials for each.

    What is searched is declared in the losses' files (`list losses` shows it) and every loss's learning rate is. The
    test split is not looked at. What is finished is kept whatever happens; the same command goes on where it was.

    \b
    Examples:
      python -m benchmark tune default
      python -m benchmark tune default --trials 20 --tuning-seeds 3 --losses arcface,normface
      python -m benchmark tune my-experiment.yaml --learning-rates 0.005,0.01,0.02 --dry-run
      python -m benchmark tune default --engine ray --ray-address auto
      python -m benchmark run default --tuned results/default/tuned.yaml
    """
    import losses as registry
    from benchmark import spec
    from benchmark.tuning import tune

    for file in plugin or []:
        registry.load_plugin(file)
    asked = spec.load(experiment)
    request = tune.TuneRequest(
        experiment=asked,
        results=results,
        data=data,
        budget=_budget(asked.tune, trials, tuning_seeds, learning_rates),
        losses=names_in(losses),
        datasets=names_in(datasets),
        workers=workers_at_a_time(workers, engine),
        engine=engine,
        ray_address=ray_address,
        device=device,
        plugins=tuple(file.resolve() for file in plugin or []),
        retry_failed=retry_failed,
        output=output,
    )
    if dry:
        typer.echo(tune.dry_run(request))
        return
    raise typer.Exit(tune.tune(request))


def add_to(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    app.command("tune")(tune)


def _budget(usual: "Budget", trials: int | None, seeds: int | None, rates: str | None) -> "Budget":
    """The experiment's budget with what the command line says of it."""
    from benchmark.spec.file_errors import FileErrors

    given = {"trials": trials, "seeds": seeds, "learning_rates": _rates(rates)}
    asked = {key: one for key, one in given.items() if one is not None}
    problems = FileErrors("the budget")
    found = problems.check(type(usual), {**usual.model_dump(mode="json", exclude_none=True), **asked}, ())
    problems.raise_if_any()
    assert found is not None
    return found


def _rates(text: str | None) -> list[float] | None:
    try:
        return [float(part) for part in names_in(text) or []] or None
    except ValueError:
        raise InputError(f"--learning-rates {text}: expected numbers with commas between them") from None
