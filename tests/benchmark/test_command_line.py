"""Wrong calls end in one readable message and exit 2; lists and dry runs say what there is."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from benchmark.cli import REPORT_BUGS, app

PROJECT = Path(__file__).parents[2]


def call(*words: str, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "defalt"], "default"),
        (["run", "smoke", "--losses", "arcfase"], "arcface"),
        (["run", "smoke", "--datasets", "digit"], "digits"),
        (["run", "smoke", "--seeds", "0,x"], "expected numbers"),
        (["run", "smoke", "--plugin", "nowhere.py"], "there is no plug-in file"),
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["score", "smoke", "--results", "nowhere"], "run the experiment first"),
        (["report", "smoke", "--results", "nowhere"], "run `python -m benchmark run smoke` first"),
        (["report", "defalt"], "default"),
        (["audit", "arcfase"], "did you mean 'arcface'"),
        (["run", "smoke", "--device", "tpu"], "expected 'cpu', 'cuda'"),
    ],
)
def test_wrong_calls(words: list[str], message: str) -> None:
    done = call(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_data_says_where_it_looked_and_how_to_get_it(tmp_path: Path) -> None:
    file = tmp_path / "missing.yaml"
    file.write_text("datasets: [cifar10]\nlosses: [normface]\nseeds: 1\n")
    done = call("run", str(file), "--data", str(tmp_path / "data"), "--results", str(tmp_path / "results"))
    assert done.returncode == 2
    assert str(tmp_path / "data") in done.stderr
    assert "download" in done.stderr
    assert "Traceback" not in done.stderr


def test_dry_run_trains_nothing(tmp_path: Path) -> None:
    done = call("run", "smoke", "--dry-run", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 13
    assert lines[0].startswith("digits · convnet/16 · ")
    assert lines[-1].startswith("12 cells")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("what", "word"),
    [
        ("losses", "arcface"),
        ("datasets", "glyphs"),
        ("backbones", "convnet"),
        ("metrics", "test/eer"),
        ("plots", "roc"),
        ("experiments", "default"),
        ("papers", "arcface"),
    ],
)
def test_lists(what: str, word: str) -> None:
    done = call("list", what)
    assert done.returncode == 0, done.stderr
    assert word in done.stdout


def test_every_command_has_help_with_examples_and_debug() -> None:
    groups = ("list", "leaderboard")
    for name, one in typer.main.get_command(app).commands.items():
        for inner in one.commands.values() if name in groups else [one]:
            assert "debug" in {option.name for option in inner.params}
        if name not in groups:
            assert f"python -m benchmark {name}" in (one.help or "")
    shown = call("run", "--help").stdout
    for option in ("--losses", "--seeds", "--engine", "--plugin", "--keep-models", "--tuned", "--no-report", "--debug"):
        assert option in shown
    assert "python -m benchmark run smoke" in shown


def test_table_takes_the_options_of_run() -> None:
    commands = typer.main.get_command(app).commands
    run, table = ({option.name for option in commands[name].params} for name in ("run", "table"))
    assert run - table == {"experiment", "tuned", "tuned_rows", "with_report"}


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from benchmark.cli import app; print({'torch', 'pandas', 'matplotlib'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True).stdout == "set()\n"


def test_debug_shows_the_traceback_of_wrong_input() -> None:
    done = call("audit", "arcfase", "--debug")
    assert done.returncode == 2
    assert done.stderr.startswith("Traceback")
    assert done.stderr.splitlines()[-1].startswith("error: ")


def test_a_file_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder is needed")
    done = call("new-loss", "mine", "--folder", str(tmp_path / "taken" / "inside"))
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


def broken(what: str) -> subprocess.CompletedProcess[str]:
    """The command line of a MarginBench whose audit does something else."""
    code = (
        "import sys, benchmark.audit\n"
        f"def audit(names):\n    {what}\n"
        "benchmark.audit.audit = audit\n"
        "from benchmark.cli import main\n"
        "sys.argv = ['marginbench', 'audit', 'softmax']\n"
        "main()\n"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("what", ["{}['gone']", "raise ValueError('of numpy')", "import no_such_module"])
def test_a_bug_shows_its_traceback_and_where_to_report_it(what: str) -> None:
    done = broken(what)
    assert done.returncode == 70
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1] == REPORT_BUGS


def test_ctrl_c_is_exit_130() -> None:
    interrupted = "signal.signal(signal.SIGINT, signal.default_int_handler); os.kill(os.getpid(), signal.SIGINT)"
    done = broken(f"import os, signal, time; {interrupted}; time.sleep(60)")
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr


def test_another_package_called_datasets_is_named(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "__init__.py").write_text("")
    code = "import sys; sys.argv = ['marginbench', 'list', 'losses']; from benchmark.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        cwd=PROJECT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "`import datasets` finds" in done.stderr
    assert str(tmp_path) in done.stderr
