"""The command line. Exit 0: all is well; 1: something failed and is named; 2: the call is wrong."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark import IN_CLONE
from benchmark.advice import commands as advice
from benchmark.errors import InputError
from benchmark.leaderboard import commands as leaderboard
from benchmark.list_command import listing
from benchmark.options import (
    DataFolder,
    EngineName,
    Plugins,
    RayAddress,
    Results,
    Workers,
    names_in,
    seeds_in,
    workers_at_a_time,
)
from benchmark.tuning import commands as tuning

if TYPE_CHECKING:
    from benchmark.spec import Experiment

app = typer.Typer(
    help="Which angular-margin loss should I use, and does the difference survive a fair test?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Names = Annotated[list[str] | None, typer.Argument(metavar="[LOSS]...", help="Losses to check; all by default.")]


@app.command()
def audit(
    names: Names = None,
    plugin: Plugins = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check that losses keep their promises: gradients, limits, half precision, state.

    \b
    Examples:
      python -m benchmark audit
      python -m benchmark audit arcface cosface
      python -m benchmark audit myloss --plugin path/to/myloss.py
    """
    import torch
    from tqdm import tqdm

    import losses
    from benchmark.audit import CHECKS, as_json, as_table
    from benchmark.audit import audit as run

    torch.set_num_threads(1)
    for file in plugin or []:
        losses.load_plugin(file)
    chosen = names or losses.names()
    for name in chosen:
        losses.get(name)
    progress = tqdm(run(chosen), total=len(chosen) * len(CHECKS), desc="audit", leave=False, disable=None)
    outcomes = list(progress)
    typer.echo(as_json(outcomes) if json else as_table(outcomes))
    failed = any(outcome.verdict == "fail" for outcome in outcomes)
    for reason in {} if names else losses.broken().values():
        typer.echo(f"✗ could not be imported: {reason}", err=json)
        failed = True
    raise typer.Exit(1 if failed else 0)


TunedFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Settings that `tune` chose: losses that it covers get a tuned row as well."),
]
TunedRows = Annotated[
    str | None, typer.Option(metavar="both|only", help="Tuned rows beside the others, or in their place.")
]


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help="A shipped experiment's name, or a path to a YAML file.")],
    losses: Annotated[str | None, typer.Option(help="Only these losses, with commas between them.")] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these datasets, with commas between them.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, with commas between them.")] = None,
    workers: Workers = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    plugin: Plugins = None,
    results: Results = Path("results"),
    data: DataFolder = None,
    keep_models: Annotated[bool, typer.Option("--keep-models", help="Keep the trained nets.")] = False,
    dry: Annotated[bool, typer.Option("--dry-run", help="List the cells with an estimate of their time.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed cells again.")] = False,
    tuned: TunedFile = None,
    tuned_rows: TunedRows = None,
    with_report: Annotated[bool, typer.Option("--report/--no-report", help="Write the report at the end.")] = True,
) -> None:
    """Train every cell of an experiment that has no result yet, then write the report.

    What is finished is kept whatever happens; the same command goes on where it was.

    \b
    Examples:
      python -m benchmark run smoke
      python -m benchmark run default --workers 2
      python -m benchmark run default --losses arcface,cosface --datasets digits --seeds 0,1
      python -m benchmark run my-experiment.yaml --dry-run
      python -m benchmark run default --tuned results/default/tuned.yaml
      python -m benchmark run default --engine ray
      python -m benchmark run big.yaml --engine ray --ray-address 10.0.0.1:6379 --device cuda
    """
    import losses as registry
    from benchmark import run_experiment

    for file in plugin or []:
        registry.load_plugin(file)
    asked = _experiment(experiment, tuned, tuned_rows)
    request = run_experiment.RunRequest(
        experiment=asked,
        results=results,
        data=data,
        losses=names_in(losses),
        datasets=names_in(datasets),
        seeds=seeds_in(seeds),
        workers=workers_at_a_time(workers, engine),
        engine=engine,
        ray_address=ray_address,
        device=device,
        plugins=tuple(file.resolve() for file in plugin or []),
        keep_models=keep_models,
        retry_failed=retry_failed,
    )
    if dry:
        typer.echo(run_experiment.dry_run(request))
        return
    status = run_experiment.run(request)
    if with_report and status != run_experiment.INTERRUPTED:
        status = max(status, _report_on(asked, results))
    raise typer.Exit(status)


def _experiment(name: str, tuned: str | None, rows: str | None) -> "Experiment":
    """The experiment, with the rows of a file of tuned settings."""
    from benchmark import spec

    experiment = spec.load(name)
    if tuned is None and rows is None:
        return experiment
    file = spec.read_tuned(spec.find_tuned(tuned, Path())) if tuned else experiment.tuned
    if file is None:
        raise InputError(f"--tuned-rows {rows}: {experiment.name} has no tuned rows; name a file with --tuned")
    return spec.with_tuned(experiment, file, rows or "both")


def _report_on(experiment: "Experiment", results: Path, pictures: bool = True) -> int:
    """Writes the report and prints its answer; 1 where there is nothing to report."""
    from benchmark.report import write_report

    try:
        written = write_report(experiment, results, pictures)
    except (ValueError, OSError) as problem:
        typer.echo(f"no report was written: {problem}", err=True)
        return 1
    typer.echo(f"\n{written.answer.as_text()}\n\nreport: {written.page}")
    return 0


@app.command()
def report(
    experiment: Annotated[str, typer.Argument(help="A shipped experiment's name, or a path to a YAML file.")],
    plugin: Plugins = None,
    results: Results = Path("results"),
    tuned: TunedFile = None,
    tuned_rows: TunedRows = None,
    pictures: Annotated[bool, typer.Option("--pictures/--no-pictures", help="Draw pictures, most of the work.")] = True,
) -> None:
    """Write the report of what is stored: one page with the answer, tables and pictures, and each as a file.

    \b
    Examples:
      python -m benchmark report default
      python -m benchmark report my-experiment.yaml --results somewhere
    """
    import losses
    from benchmark.report import write_report

    for file in plugin or []:
        losses.load_plugin(file)
    written = write_report(_experiment(experiment, tuned, tuned_rows), results, pictures)
    typer.echo(f"{written.answer.as_text()}\n\nreport: {written.page}")


@app.command()
def table(
    paper: Annotated[str, typer.Argument(help="A shipped paper's name, a path to a paper file, or all.")],
    scale: Annotated[str, typer.Option(help="smoke, cpu or full: how much is trained, and on what.")] = "cpu",
    losses: Annotated[str | None, typer.Option(help="Only these rows, with commas between them.")] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these datasets, with commas between them.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, with commas between them.")] = None,
    workers: Workers = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    results: Results = Path("results"),
    data: DataFolder = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="List the cells with an estimate of their time.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed cells again.")] = False,
) -> None:
    """Does a paper's table hold? Published and measured figures side by side, with the reasons they differ.

    Trains what has no result yet. Scale cpu takes minutes on a laptop, on data that it can train on; full is the
    paper's own data, net and schedule; smoke takes seconds and measures nothing worth reading.

    \b
    Examples:
      python -m benchmark table arcface
      python -m benchmark table all --scale smoke
      python -m benchmark table adaacos --scale full --data where/the/data/is --device cuda
      python -m benchmark table all --scale full --engine ray --ray-address auto --device cuda
      python -m benchmark list papers
    """
    from benchmark import papers, run_experiment, spec

    request = run_experiment.RunRequest(
        experiment="",
        results=results,
        data=data,
        losses=names_in(losses),
        datasets=names_in(datasets),
        seeds=seeds_in(seeds),
        workers=workers_at_a_time(workers, engine),
        engine=engine,
        ray_address=ray_address,
        device=device,
        retry_failed=retry_failed,
    )
    if scale not in spec.SCALES:
        raise InputError(f"--scale {scale}: expected one of {', '.join(spec.SCALES)}")
    chosen = [papers.load(name) for name in (papers.names() if paper == "all" else [paper])]
    if dry:
        for one in chosen:
            typer.echo(run_experiment.dry_run(replace(request, experiment=one.scales[scale].experiment)))
        return
    raise typer.Exit(papers.make_tables(chosen, scale, request))


@app.command()
def score(
    experiment: Annotated[str, typer.Argument(help="The name of an experiment that was run.")],
    plugin: Plugins = None,
    results: Results = Path("results"),
) -> None:
    """Recompute every metric from the saved embeddings, and report any that differ from what is stored.

    \b
    Example:
      python -m benchmark score default
    """
    from tqdm import tqdm

    import losses
    from benchmark import rescore, spec
    from benchmark.store import Store

    for file in plugin or []:
        losses.load_plugin(file)
    name = spec.load(experiment).name
    runs, damaged = rescore.runs_to_score(Store(results, name))
    found = []
    for one in tqdm(runs, desc="score", unit="run", leave=False, disable=None):
        found += list(rescore.rescore(one))
    for problem in damaged:
        typer.echo(f"damaged: {problem}")
    for item in found:
        typer.echo(f"differs: {item.run} {item.metric}: stored {item.stored}, recomputed {item.recomputed}")
    typer.echo(f"{len(runs)} runs, {len(found)} figures that differ, {len(damaged)} damaged runs")
    raise typer.Exit(1 if found or damaged else 0)


@app.command()
def claims(
    run_first: Annotated[bool, typer.Option("--run", help="Train the cells that have no result first.")] = False,
    workers: Workers = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
    results: Results = Path("results"),
    data: DataFolder = None,
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
    from benchmark import run_experiment

    known = ledger.load_all()
    request = run_experiment.RunRequest(
        experiment="",
        results=results,
        data=data,
        workers=workers_at_a_time(workers, engine),
        engine=engine,
        ray_address=ray_address,
    )
    status = ledger.run_missing(known, request) if run_first else 0
    found = ledger.ledger_of(known, results)
    missing = ledger.commands_for_missing(found, results)
    if all(finding.verdict == ledger.NOT_RUN for finding in found.findings):
        typer.echo(f"no claim can be judged, {results} has no results for them: {' and '.join(missing)}", err=True)
        raise typer.Exit(status or 1)
    typer.echo(ledger.as_text(found))
    typer.echo(f"\nledger: {ledger.write(found, results)}")
    if missing:
        typer.echo(f"some claims were not run, or only in part: {' and '.join(missing)}", err=True)
    raise typer.Exit(status or (1 if missing else 0))


app.add_typer(listing, name="list")
leaderboard.add_to(app)
tuning.add_to(app)
advice.add_to(app)


def _check_that_datasets_is_ours() -> None:
    """Hugging Face's package has the same name; the folder beside this one is meant."""
    found = importlib.util.find_spec("datasets")
    here = Path(__file__).resolve().parents[1] / "datasets" / "__init__.py"
    if found is None or found.origin is None or Path(found.origin).resolve() != here:
        where = found.origin if found is not None else "nowhere"
        print(
            f"error: `import datasets` finds {where}, not MarginBench's own {here}: run from the project's folder, "
            "in the .venv that `make setup` makes, without another package of that name installed",
            file=sys.stderr,
        )
        sys.exit(2)


def main() -> None:
    """Runs the command line; wrong input ends in one readable message and exit 2."""
    if IN_CLONE:
        _check_that_datasets_is_ours()
    try:
        app()
    except (ValueError, FileNotFoundError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except OSError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(1)
