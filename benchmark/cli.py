"""The command line.

Exit 0: all is well; 1: something failed and is named; 2: the call or a file is wrong; 70: a bug; 130: interrupted.
"""

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from benchmark import IN_CLONE
from benchmark.commands import advise, audit, experiment, leaderboard, list, papers, tune
from benchmark.warning_lines import show_as_lines

BUG = 70
REPORT_BUGS = "this is a bug in MarginBench: please report it, with all of the above, as an issue of the project"

SCRIPT = "marginbench"
"""The installed command. Shells complete commands, and `python -m benchmark` is not one."""
COMPLETION = {"--install-completion", "--show-completion"}
HELP = """Which angular-margin loss should I use, and does the difference survive a fair test?

\b
First steps:
  python -m benchmark run smoke             Check that everything works, in seconds.
  python -m benchmark run default           Compare eleven losses, in minutes.
  python -m benchmark advise --classes 500  Ask for s and m.
  python -m benchmark list losses arcface   Read about one loss.

`python -m benchmark COMMAND --help` explains a command. Exit status 0: all is well. 1: something failed and is named.
2: the call or a file is wrong. 70: a bug. 130: interrupted.
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for group in (experiment, papers, tune, audit, leaderboard, advise, list):
    group.add_to(app)


def _show_version(asked: bool) -> None:
    if asked:
        from benchmark.version import in_words

        typer.echo(in_words())
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the versions of MarginBench, torch and Python.",
        ),
    ] = False,
) -> None:
    pass


def _check_that_datasets_is_ours() -> None:
    """Hugging Face's package has the same name; the folder beside this one is meant."""
    found = importlib.util.find_spec("datasets")
    here = Path(__file__).resolve().parents[1] / "datasets" / "__init__.py"
    if found is None or found.origin is None or Path(found.origin).resolve() != here:
        where = found.origin if found is not None else "nowhere"
        print(
            f"error: `import datasets` finds {where}, not MarginBench's own {here}: run from the project's folder, "
            "with the Python of .venv that `make setup` creates, and without another package of that name installed",
            file=sys.stderr,
        )
        sys.exit(2)


def main() -> None:
    """Runs the command line. Wrong input ends in one readable message, a bug in a traceback."""
    if IN_CLONE:
        _check_that_datasets_is_ours()
    show_as_lines()
    try:
        app(prog_name=SCRIPT if COMPLETION & set(sys.argv) else None)
    except Exception as problem:
        sys.exit(_explain(problem))


def _explain(problem: Exception) -> int:
    """Says what is wrong; the exit status. An error of a plug-in's own code is not a bug of MarginBench."""
    from benchmark.errors import INPUT_ERRORS
    from benchmark.plugins import plugin_at_fault

    if isinstance(problem, (*INPUT_ERRORS, OSError)):
        print(f"error: {problem}", file=sys.stderr)
        return 2 if isinstance(problem, INPUT_ERRORS) else 1
    if place := plugin_at_fault(problem):
        print(f"error: the plug-in fails: {type(problem).__name__}: {problem} ({place})", file=sys.stderr)
        return 2
    traceback.print_exception(problem)
    print(REPORT_BUGS, file=sys.stderr)
    return BUG
