"""Wrong calls end in one readable message and exit 2; lists and dry runs say what there is."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import typer
import yaml

import losses
from benchmark import spec
from benchmark.cli import REPORT_BUGS, app
from benchmark.dry_run import dry_run
from benchmark.options import RunOptions

PROJECT = Path(__file__).parents[2]


def call(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command, added = [sys.executable, "-m", "benchmark", *words], environment or {}
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, env=os.environ | added)


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
    assert "Traceback" not in done.stderr
    snippet = yaml.safe_load("".join(re.findall(r"^    .*\n", done.stderr, re.MULTILINE)))
    assert snippet == {"datasets": [{"cifar10": {"download": True}}]}
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **snippet}))
    assert spec.load(file).datasets[0].access == {"download": True}


def test_missing_data_of_a_built_in_experiment_says_what_to_copy(tmp_path: Path) -> None:
    done = call("run", "omniglot", "--data", str(tmp_path), "--results", str(tmp_path / "results"))
    assert done.returncode == 2
    file = spec.load("omniglot").path
    assert done.stderr.endswith(
        f"omniglot is built in: to change it, copy {file} to my-omniglot.yaml and run my-omniglot.yaml\n"
    )


def test_a_missing_image_folder_says_how_to_name_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("datasets: [folder: {path: nowhere}]\nlosses: [normface]\nseeds: 1\n")
    done = call("run", str(file), "--data", str(tmp_path), "--results", str(tmp_path / "results"))
    assert done.returncode == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in done.stderr
    snippet = yaml.safe_load("".join(re.findall(r"^    .*\n", done.stderr, re.MULTILINE)))
    assert snippet == {"datasets": [{"folder": {"path": "my-images"}}]}


def test_dry_run_trains_nothing(tmp_path: Path) -> None:
    done = call("run", "smoke", "--dry-run", "--results", str(tmp_path), "--workers", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("digits · convnet/16 · ")
    assert lines[-3] == "smoke: 18 cells, 0 stored with a result, 18 left to run"
    assert re.fullmatch(r"estimated time: ~\S+ s on one core, ~\S+ s with 2 workers", lines[-2])
    memory = (
        r"estimated memory: 0\.\d GB per worker at its peak, 1\.\d GB for 2 workers \(right within a factor of 1\.5\)"
    )
    assert re.fullmatch(memory, lines[-1])
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A run of one cell, of which it is said as JSON what it did."""
    folder = tmp_path_factory.mktemp("json")
    words = ("--losses", "softmax", "--datasets", "digits", "--seeds", "0", "--workers", "1", "--results", str(folder))
    return folder, call("run", "smoke", "--json", *words)


def test_a_run_prints_one_json_object(one_run: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = one_run
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    counts = {"cells": 1, "done": 1, "trained_now": 1, "failed": 0, "diverged": 0, "status": 0}
    assert {key: found[key] for key in counts} == counts
    assert found["failures"] == []
    assert Path(found["report"]) == folder / "smoke" / "report" / "index.html"
    assert Path(found["report"]).is_file()
    assert Path(found["summary"]).is_file()
    assert "softmax" in found["answer"]
    assert "1 cell in " in done.stderr
    assert "1 cells" not in done.stderr


def test_overrides_are_said_in_the_report_and_leave_stored_runs_alone(
    one_run: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    words = ["run", "smoke", "--losses", "softmax", "--datasets", "digits", "--seeds", "0", "--workers", "1"]
    changed = ["--override", "recipe.epochs=2", "--override", "dim=8"]
    shutil.copytree(one_run[0], tmp_path, dirs_exist_ok=True)
    done = call(*words, *changed, "--json", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["overrides"], found["trained_now"]) == (["recipe.epochs=2", "dim=8"], 1)
    said = "Changed with --override: recipe.epochs=2, dim=8."
    report = tmp_path / "smoke" / "report"
    assert said in (report / "index.html").read_text()
    for name in ("table.md", "table.tex"):
        assert said in re.sub(r"[\\{}]", "", (report / name).read_text())  # without what escapes signs there
    summary = (tmp_path / "smoke" / "summary.csv").read_text().splitlines()
    assert len(summary) == 2
    call("report", "smoke", "--no-pictures", "--results", str(tmp_path))
    assert said not in (report / "index.html").read_text()


def test_dry_run_on_ray_does_not_know_the_number_of_workers(tmp_path: Path) -> None:
    said = dry_run("smoke", RunOptions(results=tmp_path, engine="ray")).as_text()
    assert "on one core\n" in said
    assert "workers" not in said


def test_dry_run_says_what_is_stored_and_what_is_left(one_run: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = one_run
    asked = RunOptions(results=folder, losses=["softmax"], seeds=[0, 1])
    found = dry_run("smoke", asked)
    assert (found.count("stored"), found.count("to run")) == (1, 3)
    assert "digits · convnet/16 · softmax · seed 0 · stored" in found.as_text()
    assert "smoke: 4 cells, 1 stored with a result, 3 left to run" in found.as_text()
    plain = json.loads(json.dumps(found.as_data()))
    assert (plain["cells"], plain["stored"], plain["left"], len(plain["each"])) == (4, 1, 3, 4)
    assert plain["estimated_bytes_per_worker"] > 3e8
    done = dry_run("smoke", replace(asked, datasets=["digits"], seeds=[0]))
    assert done.as_text().splitlines()[1:] == ["smoke: 1 cell, 1 stored with a result, 0 left to run"]


KINDS = {
    "losses": "arcface",
    "datasets": "glyphs",
    "backbones": "convnet",
    "metrics": "test/eer",
    "plots": "roc",
    "claims": "1",
    "papers": "arcface",
    "experiments": "default",
}


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    app(["list", *words], standalone_mode=False)
    return capsys.readouterr().out


@pytest.mark.parametrize(("kind", "name"), KINDS.items())
def test_a_list_has_a_line_for_each(kind: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys, kind).splitlines()
    assert name in {line.split()[0] for line in lines}
    assert all(len(line) <= 100 for line in lines)
    first = [len(line) - len(line.split(maxsplit=1)[1]) for line in lines]
    assert len(set(first)) == 1, "the summaries begin in one column"
    whole = json.loads(listed(capsys, kind, "--json"))
    assert {line.split()[0] for line in lines} <= {one["name"] for one in whole}
    assert all(one["summary"] for one in whole)


@pytest.mark.parametrize(("kind", "name"), KINDS.items())
def test_a_list_shows_the_details_of_one(kind: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = listed(capsys, kind, name)
    assert shown.startswith(f"{name}: ")
    assert all(len(line) <= 100 for line in shown.splitlines())
    (whole,) = [one for one in json.loads(listed(capsys, kind, "--json")) if one["name"] == name]
    assert json.loads(listed(capsys, kind, name, "--json")) == whole
    assert whole.keys() > {"name", "summary"}


def test_the_details_of_a_loss(capsys: pytest.CaptureFixture[str]) -> None:
    shown = listed(capsys, "losses", "arcface")
    assert "s·cos(θ_y + m)" in shown
    assert "arXiv:1801.07698" in shown
    assert "  m = 0.5: margin added to the target's angle, radians\n" in shown
    assert "allowed: a number with 0 ≤ value ≤ 1.5708; tuning searches: 0 to 0.6" in shown
    found = json.loads(listed(capsys, "losses", "arcface", "--json"))["hyper_parameters"]
    assert [one["name"] for one in found] == list(losses.get("arcface").hyper)


def test_a_list_names_the_nearest() -> None:
    done = call("list", "losses", "arcfase")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: there is no loss 'arcfase'; did you mean 'arcface'?")
    assert len(done.stderr.splitlines()) == 1


def test_version() -> None:
    shown = call("--version").stdout
    about = r"marginbench \d+\.\d+\.\d+( \(commit [0-9a-f]{12}\+?\))?, torch \d\S+, Python 3\.\d+\.\d+\n"
    assert re.fullmatch(about, shown)
    assert torch.__version__ in shown


def test_shells_complete_the_installed_command() -> None:
    shown = call("--show-completion", "bash", environment={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}).stdout
    assert "_MARGINBENCH_COMPLETE=complete_bash" in shown
    code = "import sys; sys.argv = ['marginbench']; from benchmark.cli import main; main()"
    for place, words, found in (("1", "marginbench le", "leaderboard"), ("2", "marginbench run sm", "smoke")):
        asked = os.environ | {"_MARGINBENCH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": place}
        done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, env=asked)
        assert done.stdout.split() == [found], done.stderr


def test_a_warning_is_one_line_and_comes_once(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import warnings\nfor _ in range(3):\n    warnings.warn('mind the gap', stacklevel=1)\n"
                      "import losses\nclass Own(losses.NormFace):\n    name = 'own'\n")  # fmt: skip
    file = tmp_path / "own.yaml"
    file.write_text("datasets: [digits]\nlosses: [own]\nseeds: 2\nrecipe: {epochs: 1}\ndim: 8\n")
    done = call("run", str(file), "--plugin", str(broken), "--no-report", "--results", str(tmp_path), "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if "gap" in line or "warn" in line.lower()] == [
        "warning: mind the gap"
    ]


def test_every_command_has_help_with_examples_and_debug() -> None:
    groups = ("list", "leaderboard")
    for name, one in typer.main.get_command(app).commands.items():
        for inner in one.commands.values() if name in groups else [one]:
            assert "debug" in {option.name for option in inner.params}
            assert inner.get_short_help_str(limit=62).endswith("."), "the list of commands shows the whole sentence"
            for option in inner.params:
                assert re.fullmatch(r"[A-Z].*\.", option.help or "", re.DOTALL), f"{name} {option.name}: a sentence"
            assert "\\b" not in (inner.help or "")
            assert inner.name == "schema" or f"python -m benchmark {name}" in (inner.help or "")
    shown = call("run", "--help").stdout
    for option in ("--losses", "--seeds", "--engine", "--plugin", "--keep-models", "--tuned", "--no-report", "--debug"):
        assert option in shown
    assert "python -m benchmark run smoke" in shown


def test_table_takes_the_options_of_run() -> None:
    commands = typer.main.get_command(app).commands
    run, table = ({option.name for option in commands[name].params} for name in ("run", "table"))
    assert run - table == {"experiment", "tuned", "tuned_rows", "with_report", "json"}


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
