"""The wheel in fresh environments, installed from the package index: alone, and beside Hugging Face's datasets."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.package.installed import CLONE, build_wheel

pytestmark = pytest.mark.slow
TORCH = "torch==2.13.0"
BESIDE_HUGGING_FACE = """
import sys
import marginbench.losses
marginbench.losses.create("arcface", num_classes=3, dim=2)
assert "torchvision" not in sys.modules
from marginbench.datasets._torchvision import ensure_torchvision
ensure_torchvision()
import datasets, timm, marginbench.datasets
assert hasattr(datasets, "load_dataset"), datasets.__file__
assert "digits" in marginbench.datasets.names()
timm.create_model("resnet18")
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment's commands, with the wheel installed."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "environment", with_pip=True)
    scripts = folder / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
    wheel = build_wheel(folder / "wheel")
    call(
        folder, scripts, "python", "-m", "pip", "install", "-q", "-c", str(CLONE / "constraints.txt"), str(wheel), TORCH
    )
    return scripts


def call(folder: Path, scripts: Path, command: str, *words: str) -> str:
    done = subprocess.run([scripts / command, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_installs_one_top_level_name(scripts: Path, tmp_path: Path) -> None:
    files = call(tmp_path, scripts, "python", "-m", "pip", "show", "-f", "marginbench").splitlines()
    inside = {line.strip().split("/")[0] for line in files[files.index("Files:") + 1 :]}
    assert inside == {"..", "marginbench", "marginbench-0.1.0.dist-info"}  # .. is the command's script


def test_smoke_runs_in_an_empty_folder(scripts: Path, tmp_path: Path) -> None:
    call(tmp_path, scripts, "marginbench", "run", "smoke")
    assert (tmp_path / "results" / "smoke" / "report" / "index.html").is_file()


def test_a_new_loss_is_audited(scripts: Path, tmp_path: Path) -> None:
    call(tmp_path, scripts, "marginbench", "new-loss", "my_loss", "--folder", ".")
    call(tmp_path, scripts, "marginbench", "audit", "my_loss", "--plugin", "my_loss.py")


def test_it_works_beside_hugging_face_datasets_and_timm(scripts: Path, tmp_path: Path) -> None:
    pins = str(CLONE / "constraints.txt")
    call(tmp_path, scripts, "python", "-m", "pip", "install", "-q", "-c", pins, "datasets", "timm", TORCH)
    call(tmp_path, scripts, "python", "-c", BESIDE_HUGGING_FACE)
    call(
        tmp_path, scripts, "marginbench", "run", "smoke", "--losses", "normface", "--datasets", "digits", "--no-report"
    )
