"""Processes really killed, disks really full, files really damaged: nothing finished is lost, nothing differs."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmark.engine.runner import CELLS, Runner, kill, wait_until_gone, workers

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc"),
    pytest.mark.xdist_group("faults"),  # one undisturbed run for all of them
    pytest.mark.long,
]
CHANCES = [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], float]:
    """The bytes of a run that nothing happened to, and how long it took."""
    runner = Runner(tmp_path_factory.mktemp("undisturbed"))
    begun = time.monotonic()
    code, output = runner.run()
    assert code == 0, output
    assert len(runner.runs()) == CELLS
    return runner.bytes(), time.monotonic() - begun


def test_one_worker_gives_the_same_bytes_as_two(undisturbed: tuple[dict[str, str], float], tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    code, output = runner.run("--workers", "1")
    assert code == 0, output
    assert runner.bytes() == undisturbed[0]
    code, output = runner.run()
    assert code == 0
    assert f"{CELLS} with a result, 0 to run" in output
    assert runner.bytes() == undisturbed[0]


@pytest.mark.parametrize("chance", CHANCES)
def test_the_runner_is_killed_at_random_moments(
    undisturbed: tuple[dict[str, str], float], tmp_path: Path, chance: int
) -> None:
    """Each time its workers end with it, what was finished stays, and in the end all is as if nothing had been."""
    expected, seconds = undisturbed
    runner, dice = Runner(tmp_path), random.Random(chance)
    finished: set[str] = set()
    for _ in range(4):
        process = runner.start()
        time.sleep(dice.uniform(0.3, 1.0) * seconds)
        started = workers(process.pid)
        kill(process.pid)
        process.communicate()
        assert wait_until_gone(started) == []
        names = {run.name for run in runner.runs()}
        assert finished <= names
        finished = names
    code, output = runner.run()
    assert code == 0, output
    assert runner.bytes() == expected


@pytest.mark.parametrize("chance", CHANCES)
def test_workers_are_killed_at_random_moments(
    undisturbed: tuple[dict[str, str], float], tmp_path: Path, chance: int
) -> None:
    """They are replaced; a cell that was hit is run again at once, so one run is enough."""
    expected, seconds = undisturbed
    runner, dice = Runner(tmp_path), random.Random(100 + chance)
    process = runner.start()
    for _ in range(2):
        time.sleep(dice.uniform(0.2, 0.6) * seconds)
        living = workers(process.pid)
        if living:
            kill(dice.choice(living))
    output, _ = process.communicate(timeout=240)
    if process.returncode == 1:  # the same cell was hit twice: it is named, and tried again when asked
        assert "its worker died by signal SIGKILL, 2 times" in output
        code, output = runner.run("--retry-failed")
        assert code == 0, output
    else:
        assert process.returncode == 0, output
    assert runner.bytes() == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_as_by_ctrl_c(undisturbed: tuple[dict[str, str], float], tmp_path: Path, number: int) -> None:
    expected, seconds = undisturbed
    runner = Runner(tmp_path)
    process = runner.start()
    time.sleep(0.8 * seconds)
    started = workers(process.pid)
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    output, _ = process.communicate(timeout=60)
    if process.returncode != 0:  # it was not done already
        assert process.returncode in (130, -signal.SIGINT, -signal.SIGTERM), output
        assert "Traceback" not in output or len(runner.runs()) == 0
    assert wait_until_gone(started) == []
    code, output = runner.run()
    assert code == 0, output
    assert runner.bytes() == expected


def test_damaged_files_are_found_kept_aside_and_made_again(
    undisturbed: tuple[dict[str, str], float], tmp_path: Path
) -> None:
    runner = Runner(tmp_path)
    assert runner.run()[0] == 0
    truncated, flipped, gone, unreadable = runner.runs()
    file = truncated / "embeddings.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    file = flipped / "metrics.json"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x10
    file.write_bytes(content)
    (gone / "history.csv").unlink()
    (unreadable / "cell.json").write_text("{not json")
    scored = subprocess.run(
        [sys.executable, "-m", "benchmark", "score", str(tmp_path / "tiny.yaml"), "--results", str(runner.results)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert scored.returncode == 1
    assert scored.stdout.count("damaged: ") == 4
    code, output = runner.run()
    assert code == 0, output
    assert output.count("it is run again, the damaged one is kept in") == 4
    assert runner.bytes() == undisturbed[0]
    assert len(list((runner.results / "tiny" / "damaged").iterdir())) == 4


def test_two_runners_on_one_folder_share_the_work(undisturbed: tuple[dict[str, str], float], tmp_path: Path) -> None:
    """Both end well with all results, and every cell was trained once."""
    runner = Runner(tmp_path)
    both = [runner.start("--workers", "1"), runner.start("--workers", "1")]
    outputs = [process.communicate(timeout=240)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert runner.bytes() == undisturbed[0]
    assert not list((runner.results / "tiny").glob("damaged/*"))


def test_a_clock_that_goes_backwards(undisturbed: tuple[dict[str, str], float], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import time\n"
        "beginning, real = time.time(), time.time\n"
        "time.time = lambda: beginning - 1000.0 * (real() - beginning)\n"
    )
    runner = Runner(tmp_path / "run")
    code, output = runner.run(environment={"PYTHONPATH": str(tmp_path)})
    assert code == 0, output
    assert "Traceback" not in output
    assert runner.bytes() == undisturbed[0]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A filesystem of 1 MB, which two or three of the four runs fill."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no filesystem can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(undisturbed: tuple[dict[str, str], float], tmp_path: Path, small_disk: Path) -> None:
    runner = Runner(tmp_path)
    runner.results.symlink_to(small_disk)
    code, output = runner.run()
    assert code == 1
    assert "No space left on device" in output
    assert "finished cells are kept" in output
    assert "Traceback" not in output
    stored = runner.runs()
    assert 0 < len(stored) < CELLS
    before = {run.name: (run / "embeddings.safetensors").read_bytes() for run in stored}
    runner.results.unlink()
    shutil.copytree(small_disk, runner.results)
    code, output = runner.run()
    assert code == 0, output
    assert runner.bytes() == undisturbed[0]
    assert {run.name: (run / "embeddings.safetensors").read_bytes() for run in runner.runs()}.items() >= before.items()


PLUGIN = '''
import os, signal
from losses import CosineHead, scale

class {title}(CosineHead):
    """A loss that goes wrong in training."""
    name = "{name}"
    s: float = scale(8.0)

    def training_loss(self, batch):
        {what}
'''
WITH_PLUGINS = """\
description: Two good cells, and one of each plug-in.
baseline: normface
seeds: 1
dim: 8
datasets: [digits]
recipe: {lr: 0.1, epochs: 1, batch: 64}
losses: [{normface: {s: 8}}, softmax, mine]
"""
WRONG = {  # by the loss's name: what it does, and what is said of it
    "raises": ("raise ZeroDivisionError('on purpose')", "ZeroDivisionError: on purpose"),
    "is_killed": ("os.kill(os.getpid(), signal.SIGKILL)", "its worker died by signal SIGKILL, 2 times"),
    "exits": ("os._exit(3)", "its worker died with exit code 3, 2 times"),
}


def plugin_file(folder: Path, name: str, what: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(PLUGIN.format(title=name.title().replace("_", ""), name=name, what=what))
    return path


def test_plugins_that_go_wrong_fail_their_own_cells_only(tmp_path: Path) -> None:
    runner = Runner(tmp_path, WITH_PLUGINS.replace("mine", ", ".join(WRONG)))
    files = {name: plugin_file(tmp_path, name, what) for name, (what, _) in WRONG.items()}
    options = [word for file in files.values() for word in ("--plugin", str(file))]
    code, output = runner.run(*options)
    assert code == 1
    assert len(runner.runs()) == 2
    for name, (_, reason) in WRONG.items():
        assert f"failed: digits · convnet/8 · {name} · seed 0: {reason}" in output
    code, again = runner.run(*options)
    assert code == 1
    assert "0 to run" in again
    assert all(reason in again for _, reason in WRONG.values())
    assert "--retry-failed" in again
    for name in WRONG:
        plugin_file(tmp_path, name, "return super().training_loss(batch)")
    code, output = runner.run(*options)
    assert code == 0, output
    assert len(runner.runs()) == 2 + len(WRONG)


def test_a_diverged_run_is_a_result(tmp_path: Path) -> None:
    text = WITH_PLUGINS.replace("lr: 0.1", "lr: 0.1, warmup: 0.0").replace("seeds: 1", "seeds: 2")
    runner = Runner(tmp_path, text)
    plugin = plugin_file(tmp_path, "mine", "return super().training_loss(batch) * float('nan')")
    code, output = runner.run("--plugin", str(plugin))
    assert code == 0, output
    summary = (runner.results / "tiny" / "summary.csv").read_text()
    assert summary.count("diverged,") >= 2
    assert "diverged runs" in output
