"""The command `tune EXPERIMENT`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.command import Without, command
from benchmark.commands.experiment import DryRun, ExperimentName
from benchmark.options import Commas, RunOptions

if TYPE_CHECKING:
    from benchmark.spec import Budget


def add_to(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    command(app, "tune")(tune)


def tune(
    experiment: ExperimentName,
    options: Annotated[RunOptions, Without(("seeds", "keep_models"))],
    trials: Annotated[
        int | None, typer.Option(min=1, help="Try this many settings for each loss on each dataset; 12 by default.")
    ] = None,
    tuning_seeds: Annotated[
        int | None, typer.Option(min=1, help="Train each setting with this many seeds; 2 by default.")
    ] = None,
    learning_rates: Annotated[
        list[float] | None,
        Commas(float, "0.01,0.02"),
        typer.Option(
            metavar="A,B,C", help="Choose from these learning rates; by default any from ¼ to 4 times the recipe's."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the settings here; RESULTS/EXPERIMENT/tuned.yaml by default."),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Choose the settings of each loss on validation data.

    For every loss it searches the learning rate and the ranges that the loss declares (`list losses NAME` shows them),
    with the same number of trials. It never uses the test split. At the end it says what it chose and what it gained.
    Finished runs are kept whatever happens: the same command continues where it stopped.

    \b
    Examples:
      python -m benchmark tune default
      python -m benchmark tune default --trials 20 --tuning-seeds 3 --losses arcface,normface
      python -m benchmark tune my-experiment.yaml --learning-rates 0.005,0.01,0.02 --dry-run
      python -m benchmark tune default --engine ray --ray-address auto
      python -m benchmark run default --tuned results/default/tuned.yaml
    """
    from benchmark import spec
    from benchmark.tuning import tune

    asked = spec.load(experiment)
    request = tune.TuneRequest(asked, options, _budget(asked.tune, trials, tuning_seeds, learning_rates), output)
    if dry_run:
        typer.echo(tune.dry_run(request))
        return
    raise typer.Exit(tune.tune(request))


def _budget(usual: "Budget", trials: int | None, seeds: int | None, rates: list[float] | None) -> "Budget":
    """The experiment's budget with what the command line says of it."""
    from benchmark.spec.file_errors import FileErrors

    given = {"trials": trials, "seeds": seeds, "learning_rates": rates}
    asked = {key: one for key, one in given.items() if one is not None}
    problems = FileErrors("the budget")
    found = problems.check(type(usual), {**usual.model_dump(mode="json", exclude_none=True), **asked}, ())
    problems.raise_if_any()
    assert found is not None
    return found
