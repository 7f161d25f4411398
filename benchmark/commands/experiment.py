"""`run`, `report` and `score`: train an experiment's cells, write its page, compute its metrics again."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.commands.command import command
from benchmark.options import INTERRUPTED, Results, RunOptions

if TYPE_CHECKING:
    from benchmark.report.build import Written
    from benchmark.spec import Experiment

EXPERIMENTS = Path(__file__).parents[1] / "experiments"


def _beginning_with(incomplete: str) -> list[str]:
    """Built-in experiments, for shells to complete; shells complete paths themselves."""
    return sorted(file.stem for file in EXPERIMENTS.glob("*.yaml") if file.stem.startswith(incomplete))


ExperimentName = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        autocompletion=_beginning_with,
        help="The name of a built-in experiment (see `list experiments`), or the path of a YAML file.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Run nothing. Say what is stored, what is left, and the time and memory it takes."),
]
TunedFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A file of settings that `tune` chose. Each loss in it gets a tuned row."),
]
TunedRows = Annotated[
    str | None,
    typer.Option(metavar="both|only", help="Show tuned rows beside the others (both), or instead of them (only)."),
]
Overrides = Annotated[
    list[str],
    typer.Option(
        "--override",
        metavar="KEY=VALUE",
        help="Change the experiment: KEY is a path in its file, such as recipe.epochs, VALUE is YAML; repeatable. It "
        "wins over what single datasets and losses have for the same key; null removes the key.",
    ),
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
    override: Overrides = [],  # noqa: B006 (typer copies it)
    with_report: Annotated[bool, typer.Option("--report/--no-report", help="Write the report at the end.")] = True,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object at the end, and nothing else on stdout.")
    ] = False,
) -> None:
    """Train the cells of an experiment, then write its report.

    It trains only the cells that have no result yet. Finished cells are kept whatever happens: the same command
    continues where it stopped.

    \b
    Examples:
      python -m benchmark run smoke
      python -m benchmark run default --dry-run
      python -m benchmark run default --workers 2
      python -m benchmark run default --losses arcface,cosface --datasets digits --seeds 0,1
      python -m benchmark run my-experiment.yaml --plugin my_loss.py
      python -m benchmark run default --tuned results/default/tuned.yaml
      python -m benchmark run fashion --override backbone=resnet20 --override recipe.epochs=2
      python -m benchmark run smoke --json
      python -m benchmark run default --engine ray
      python -m benchmark run big.yaml --engine ray --ray-address 10.0.0.1:6379 --device cuda
    """
    asked = _experiment(experiment, tuned, tuned_rows, override)
    if dry_run:
        from benchmark.dry_run import dry_run as dry

        found = dry(asked, options)
        typer.echo(_as_json(found.as_data()) if json else found.as_text())
        return
    from benchmark import run_experiment

    if not json:
        status = run_experiment.run(asked, options)
        if with_report and status != INTERRUPTED:
            status = max(status, _report_on(asked, options.results))
        raise typer.Exit(status)
    finished = run_experiment.carry_out(asked, options)
    written = _written(asked, options.results) if with_report and finished.status != INTERRUPTED else None
    status = finished.status or (1 if with_report and written is None else 0)
    report = {
        "report": None if written is None else str(written.page),
        "answer": None if written is None else written.answer.as_text(),
    }
    typer.echo(_as_json({**finished.as_data(), "status": status, **report}))
    raise typer.Exit(status)


def _as_json(content: dict[str, Any]) -> str:
    from json import dumps

    return dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def _experiment(name: str, tuned: str | None, rows: str | None, overrides: Sequence[str] = ()) -> "Experiment":
    """The experiment, with overrides and with the rows of a file of tuned settings."""
    from benchmark import spec
    from benchmark.errors import InputError

    experiment = spec.load(name, overrides)
    if tuned is None and rows is None:
        return experiment
    file = spec.read_tuned(spec.find_tuned(tuned, Path())) if tuned else experiment.tuned
    if file is None:
        raise InputError(
            f"--tuned-rows {rows}: {experiment.name} has no tuned rows; add --tuned FILE, which `tune` writes"
        )
    return spec.with_tuned(experiment, file, rows or "both")


def _report_on(experiment: "Experiment", results: Path) -> int:
    """Writes the report and prints its answer; 1 if there is nothing to report."""
    written = _written(experiment, results)
    if written is None:
        return 1
    typer.echo(f"\n{written.answer.as_text()}\n\nreport: {written.page}")
    return 0


def _written(experiment: "Experiment", results: Path) -> "Written | None":
    """Writes the report; None, with the reason on stderr, if it cannot be written."""
    from benchmark.errors import INPUT_ERRORS
    from benchmark.report import write_report

    try:
        return write_report(experiment, results)
    except (*INPUT_ERRORS, OSError) as problem:
        typer.echo(f"no report was written: {problem}", err=True)
        return None


def report(
    experiment: ExperimentName,
    results: Results = Path("results"),
    tuned: TunedFile = None,
    tuned_rows: TunedRows = None,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Draw the pictures, which takes most of the time.")
    ] = True,
) -> None:
    """Write an experiment's report from its stored runs.

    The report is one page with the answer, the tables and the pictures. Each table and picture is a file as well.

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
    update: Annotated[bool, typer.Option("--update", help="Add the metrics that stored runs do not have yet.")] = False,
    tuned: TunedFile = None,
    tuned_rows: TunedRows = None,
) -> None:
    """Compute all metrics again from the saved embeddings.

    It names every metric that differs from the stored one. With --update it adds the metrics that stored runs and
    leaderboard entries do not have yet, and replaces those whose computation has changed. It trains nothing.

    \b
    Examples:
      python -m benchmark score default
      python -m benchmark score default --update --plugin my_metric.py
    """
    from benchmark.commands import score

    asked = _experiment(experiment, tuned, tuned_rows)
    raise typer.Exit((score.update if update else score.compare)(asked, results))
