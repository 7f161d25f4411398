"""`tune` for real, on a few digits: killed and resumed, without the test split, and put to use."""

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from PIL import Image
from safetensors import safe_open

import datasets
from benchmark import run_experiment, spec
from benchmark.options import RunOptions
from benchmark.report import write_report
from benchmark.spec import Budget
from benchmark.tuning.tune import TuneRequest, tune
from tests.benchmark.tuning.made import TINY, Tuner

pytestmark = pytest.mark.xdist_group("tuning")  # what its fixtures make is made once

KILLS = 3


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Tuner:
    tuner = Tuner(tmp_path_factory.mktemp("undisturbed"), data)
    status, output = tuner.run("tune")
    assert status == 0, output
    return tuner


def test_it_ends_with_what_it_chose_and_what_it_gained(undisturbed: Tuner, data: Path, tmp_path: Path) -> None:
    tuner = Tuner(tmp_path, data)
    shutil.copytree(undisturbed.results, tuner.results)
    status, output = tuner.run("tune")  # everything is stored: it says the same again
    assert status == 0, output
    assert "Validation metric: Classification accuracy, val, %." in output
    trials = pd.read_csv(tuner.trials)
    gains = []
    for loss, of_loss in trials.groupby("loss"):
        before = 100 * of_loss["mean"].iloc[0]
        after = 100 * of_loss.loc[of_loss["chosen"] == "yes", "mean"].item()
        gains.append(after - before)
        (line,) = [line for line in output.splitlines() if line.startswith(f"digits   {loss} ")]
        assert line.split()[-4:-1] == ["3", f"{before:.2f}", f"{after:.2f}"]
        assert float(line.split()[-1]) == pytest.approx(after - before, abs=0.01)
    raised = [gain for gain in gains if gain > 0]
    assert f"Tuning raised the validation metric of {len(raised)} of 3 rows" in output


def test_every_loss_gets_the_same_trials(undisturbed: Tuner) -> None:
    trials = pd.read_csv(undisturbed.trials)
    assert trials.groupby("loss").size().to_dict() == {"softmax": 3, "normface s=auto": 3, "arcface s=16": 3}
    assert trials.groupby("loss")["chosen"].apply(lambda chosen: (chosen == "yes").sum()).tolist() == [1, 1, 1]
    assert len(undisturbed.stored()) == 18
    for _, of_loss in trials.groupby("loss"):
        assert of_loss["mean"].max() == of_loss.loc[of_loss["chosen"] == "yes", "mean"].item()
        assert of_loss["lr"].iloc[0] == 0.1


@pytest.mark.slow
def test_killed_at_random_and_resumed_it_has_the_same_trials(undisturbed: Tuner, tmp_path: Path, data: Path) -> None:
    draw = random.Random(8)
    tuner = Tuner(tmp_path, data)
    for kill in range(KILLS):
        process = tuner.start("tune")
        enough = len(tuner.stored()) + draw.randint(1, 4)
        while process.poll() is None and len(tuner.stored()) < enough:
            time.sleep(0.01)
        time.sleep(draw.uniform(0.0, 0.3))
        if kill % 2:
            process.kill()  # the runner alone: its workers end with it
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not tuner.tuned.exists()
    assert len(tuner.stored()) < 18
    status, output = tuner.run("tune")
    assert status == 0, output
    assert tuner.outcome() == undisturbed.outcome()


def test_nothing_of_the_test_split_is_in_any_stored_file(undisturbed: Tuner) -> None:
    for run in undisturbed.stored():
        metrics = json.loads((run / "metrics.json").read_text())["metrics"]
        assert metrics["val/classification_accuracy"] is not None
        assert not [name for name in metrics if name.startswith("test")]
        with safe_open(run / "embeddings.safetensors", framework="numpy") as kept:
            assert not [name for name in kept.keys() if "test" in name]  # noqa: SIM118 — it is not a mapping


def test_tuned_rows_are_run_and_reported_beside_the_others(undisturbed: Tuner, data: Path) -> None:
    experiment = spec.with_tuned(spec.load(undisturbed.file), spec.read_tuned(undisturbed.tuned))
    options = RunOptions(results=undisturbed.results, data=data, seeds=[0], workers=2)
    assert run_experiment.run(experiment, options, quiet=True) == 0
    written = write_report(experiment, undisturbed.results, pictures=False)
    table = pd.read_csv(written.page.parent / "table.csv")
    assert set(table["loss"]) == {
        "softmax", "softmax (tuned)", "normface s=auto", "normface (tuned)", "arcface s=16", "arcface s=16 (tuned)",
    }  # fmt: skip
    page = written.page.read_text()
    assert "Every loss had the same budget: at most 3 trials with 2 seeds each" in page
    assert "tuned.yaml" in page
    assert "learning rate 0.1 (each tuned row has its own)" in page
    differences = pd.read_csv(written.page.parent / "differences.csv")
    assert set(differences["Loss"]) == set(table["loss"]) - {"normface s=auto"}


def test_tuning_one_loss_again_keeps_the_others(undisturbed: Tuner, data: Path, tmp_path: Path) -> None:
    """Their settings and trials stay where they are, and the file says what made which."""
    tuner = Tuner(tmp_path, data)
    shutil.copytree(undisturbed.results, tuner.results)
    before = tuner.outcome()
    lines = tuner.trials.read_text().splitlines(keepends=True)
    status, output = tuner.run("tune", "--losses", "softmax")
    assert status == 0, output
    assert "kept the settings of 2 rows from an earlier tuning" in output
    assert len(yaml.safe_load(tuner.tuned.read_text())["earlier"]) == 1
    again = tuner.outcome()
    assert again["trials"] == "".join(lines) == before["trials"]
    assert again["settings"]["datasets"] == before["settings"]["datasets"]
    assert list(again["settings"]["datasets"]["digits"]) == ["softmax", "normface s=auto", "arcface s=16"]
    status, output = tuner.run("tune", "--losses", "softmax", "--trials", "2")
    assert status == 2
    assert "was tuned" not in output
    assert "has rows that were tuned with another budget, 3 trials of 2 seeds:" in output
    status, output = tuner.run("tune", "--losses", "softmax", "--trials", "2", "--output", str(tmp_path / "other.yaml"))
    assert status == 0, output
    assert list(spec.read_tuned(tmp_path / "other.yaml").choices["digits"]) == ["softmax"]


def test_rows_of_another_training_are_not_kept(undisturbed: Tuner, data: Path, tmp_path: Path) -> None:
    tuner = Tuner(tmp_path, data, TINY.replace("epochs: 1", "epochs: 2"))
    shutil.copytree(undisturbed.results, tuner.results)
    status, output = tuner.run("tune", "--losses", "softmax")
    assert status == 0, output
    assert list(spec.read_tuned(tuner.tuned).choices["digits"]) == ["softmax"]
    assert tuner.trials.read_text().count("\n") == 4


def picture(folder: Path, name: str, draw: random.Random, shade: int) -> None:
    pixels = bytes(min(255, max(0, shade + draw.randint(-40, 40))) for _ in range(64))
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    Image.frombytes("L", (8, 8), pixels).save(folder / name)


def test_tuning_is_the_same_whatever_is_in_the_test_split(tmp_path: Path) -> None:
    """The files that are the test split are put in place of by blank ones: not a byte of the outcome changes."""
    draw = random.Random(0)
    images = tmp_path / "data" / "own"
    for shade in range(4):
        for number in range(12):
            picture(images, f"{shade}/{number}.png", draw, 40 + 50 * shade)
    text = TINY.replace("  - digits:\n    wrappers: [{subset: {per_class: 20}}]\n    label: digits", "  - OWN")
    text = text.replace("OWN", "folder: {path: own, protocol: closed, size: 8, channels: 1}")
    found = []
    for name in ("first", "second"):
        tuner = Tuner(tmp_path / name, tmp_path / "data", text)
        budget = Budget(trials=2, seeds=1)
        options = RunOptions(results=tuner.results, data=tuner.data, losses=["normface"], workers=1)
        assert tune(TuneRequest(spec.load(tuner.file), options, budget)) == 0
        found.append(tuner.outcome())
        _blank_the_test_split(images)
    assert found[0] == found[1]
    assert len(found[0]["runs"]) == 8


def _blank_the_test_split(images: Path) -> None:
    options = {"path": "own", "protocol": "closed", "size": 8, "channels": 1}
    test = datasets.load("folder", root=images.parent, **options).test
    assert isinstance(test.images, torch.Tensor)
    wanted = {image.numpy().tobytes() for image in test.images}
    held = [file for file in images.rglob("*.png") if Image.open(file).convert("L").tobytes() in wanted]
    assert len(held) == len(test) > 0
    for file in held:
        Image.new("L", (8, 8)).save(file)
