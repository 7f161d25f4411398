"""The command line.

Exit 0: all is well; 1: something failed and is named; 2: the call or a file is wrong; 70: a bug; 130: interrupted.
"""

import importlib.util
import sys
import traceback
from pathlib import Path

import typer

from benchmark import IN_CLONE
from benchmark.commands import advise, audit, experiment, leaderboard, list, papers, tune

BUG = 70
REPORT_BUGS = "this is a bug in MarginBench: please report it, with all of the above, as an issue of the project"

app = typer.Typer(
    help="Which angular-margin loss should I use, and does the difference survive a fair test?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (experiment, papers, tune, audit, leaderboard, advise, list):
    group.add_to(app)


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
    """Runs the command line. Wrong input ends in one readable message, a bug in a traceback."""
    if IN_CLONE:
        _check_that_datasets_is_ours()
    try:
        app()
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
