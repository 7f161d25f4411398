"""`run`, `report` and `score`: an experiment's cells, its page, and its metrics computed again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.command import command
from benchmark.options import INTERRUPTED, Results, RunOptions

if TYPE_CHECKING:
    from benchmark.spec import Experiment

ExperimentName = Annotated[
    str, typer.Argument(metavar="EXPERIMENT", help="The name of a built-in experiment, or a path to a YAML file.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Run nothing: list what would run, with an estimate of its time.")
]
TunedFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Settings that `tune` chose: losses that it covers get a tuned row as well."),
]
TunedRows = Annotated[
    str | None, typer.Option(metavar="both|only", help="Tuned rows beside the others, or in their place.")
]


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    command(app, "run")(run)
    command(app, "report")(report)
    command(app, "score")(score)


def run(
    experiment: ExperimentName,
    options: RunOptions,
    dry_run: DryRun = False,
    tuned: TunedFile = None,
    tuned_rows: TunedRows = None,
    with_report: Annotated[bool, typer.Option("--report/--no-report", help="Write the report at the end.")] = True,
) -> None:
    """Train every cell of an experiment that has no result yet, then write the report.

    Finished cells are kept whatever happens; the same command continues where it stopped.

    \b
    Examples:
      python -m benchmark run smoke
      python -m benchmark run default --workers 2
      python -m benchmark run default --losses arcface,cosface --datasets digits --seeds 0,1
      python -m benchmark run my-experiment.yaml --plugin my_loss.py --dry-run
      python -m benchmark run default --tuned results/default/tuned.yaml
      python -m benchmark run default --engine ray
      python -m benchmark run big.yaml --engine ray --ray-address 10.0.0.1:6379 --device cuda
    """
    from benchmark import run_experiment

    asked = _experiment(experiment, tuned, tuned_rows)
    if dry_run:
        typer.echo(run_experiment.dry_run(asked, options))
        return
    status = run_experiment.run(asked, options)
    if with_report and status != INTERRUPTED:
        status = max(status, _report_on(asked, options.results))
    raise typer.Exit(status)


def _experiment(name: str, tuned: str | None, rows: str | None) -> "Experiment":
    """The experiment, with the rows of a file of tuned settings."""
    from benchmark import spec
    from benchmark.errors import InputError

    experiment = spec.load(name)
    if tuned is None and rows is None:
        return experiment
    file = spec.read_tuned(spec.find_tuned(tuned, Path())) if tuned else experiment.tuned
    if file is None:
        raise InputError(f"--tuned-rows {rows}: {experiment.name} has no tuned rows; name a file with --tuned")
    return spec.with_tuned(experiment, file, rows or "both")


def _report_on(experiment: "Experiment", results: Path) -> int:
    """Writes the report and prints its answer; 1 if there is nothing to report."""
    from benchmark.errors import INPUT_ERRORS
    from benchmark.report import write_report

    try:
        written = write_report(experiment, results)
    except (*INPUT_ERRORS, OSError) as problem:
        typer.echo(f"no report was written: {problem}", err=True)
        return 1
    typer.echo(f"\n{written.answer.as_text()}\n\nreport: {written.page}")
    return 0


def report(
    experiment: ExperimentName,
    results: Results = Path("results"),
    tuned: TunedFile = None,
    tuned_rows: TunedRows = None,
    pictures: Annotated[bool, typer.Option("--pictures/--no-pictures", help="Draw pictures, most of the work.")] = True,
) -> None:
    """Write the report of the stored runs: one page with the answer, tables and pictures, and each as a file.

    \b
    Examples:
      python -m benchmark report default
      python -m benchmark report my-experiment.yaml --results somewhere
    """
    from benchmark.report import write_report

    written = write_report(_experiment(experiment, tuned, tuned_rows), results, pictures)
    typer.echo(f"{written.answer.as_text()}\n\nreport: {written.page}")


def score(
    experiment: ExperimentName,
    results: Results = Path("results"),
    update: Annotated[bool, typer.Option("--update", help="Add the metrics that stored runs lack.")] = False,
    tuned: TunedFile = None,
    tuned_rows: TunedRows = None,
) -> None:
    """Recompute every metric from the saved embeddings, and report any that differ from what is stored.

    With --update, compute the metrics that stored runs and leaderboard entries lack, and those that are computed in a
    new way, from the saved embeddings; nothing is trained.

    \b
    Examples:
      python -m benchmark score default
      python -m benchmark score default --update --plugin my_metric.py
    """
    from benchmark.commands import score

    asked = _experiment(experiment, tuned, tuned_rows)
    raise typer.Exit((score.update if update else score.compare)(asked, results))
