"""The wheel has one top-level package, which works away from the clone and gives cells the same ids."""

import email.parser
import zipfile
from pathlib import Path

import pytest

import losses
from benchmark.code_digest import code_digest
from tests.package.installed import CLONE, build_wheel, python, unpack

EVERYTHING = """
import importlib, pkgutil, sys, warnings
import marginbench
warnings.simplefilter("error")
names = [one.name for one in pkgutil.walk_packages(marginbench.__path__, "marginbench.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
assert not {"losses", "datasets", "benchmark"} & set(sys.modules), "imported by the clone's name"
assert all(importlib.util.find_spec(name) is None for name in ("losses", "datasets", "benchmark"))
from marginbench.code_digest import code_digest
from marginbench.losses import get, names
print(*(f"{name} {code_digest(get(name))}" for name in names()), sep="\\n")
"""
LIGHT = """
import sys
from marginbench.losses import create
create("arcface", 3, 2)
print(sorted({"torchvision", "pandas", "matplotlib", "sklearn", "scipy", "pydantic", "typer"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(wheel, tmp_path_factory.mktemp("installed"))


def test_it_has_one_top_level_package_with_all_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"marginbench", "marginbench-0.1.0.dist-info"}
    folders = {"benchmark": "marginbench", "losses": "marginbench/losses", "datasets": "marginbench/datasets"}
    expected = {
        f"{place}/{file.relative_to(CLONE / folder).as_posix()}"
        for folder, place in folders.items()
        for file in (CLONE / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    expected |= {"marginbench/advice/maps.csv", "marginbench/claims/ledger.csv"}
    assert {name for name in names if name.startswith("marginbench/")} == expected
    assert "marginbench/py.typed" in names


def test_no_text_names_the_command_of_the_clone(installed: Path) -> None:
    texts = [file for file in (installed / "marginbench").rglob("*") if file.suffix in (".py", ".j2", ".yaml")]
    assert [file for file in texts if "python -m benchmark" in file.read_text()] == []


def test_it_needs_what_the_project_declares(installed: Path) -> None:
    (file,) = installed.glob("*.dist-info/METADATA")
    metadata = email.parser.Parser().parsestr(file.read_text())
    assert metadata["Name"] == "marginbench"
    assert any(need.startswith("torch") for need in metadata.get_all("Requires-Dist", []))


def test_every_module_imports_and_cells_keep_their_ids(installed: Path, tmp_path: Path) -> None:
    done = python(installed, tmp_path, "-c", EVERYTHING)
    assert done.returncode == 0, done.stderr
    here = [f"{name} {code_digest(losses.get(name))}" for name in losses.names()]
    assert done.stdout.splitlines() == here


def test_the_losses_import_nothing_large_beside_torch(installed: Path, tmp_path: Path) -> None:
    done = python(installed, tmp_path, "-c", LIGHT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_an_experiment_runs_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    call = ["run", "smoke", "--losses", "normface", "--datasets", "digits", "--seeds", "0", "--no-report"]
    done = python(installed, tmp_path, "-m", "marginbench", *call)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "results" / "smoke" / "runs").glob("*/metrics.json"))) == 1


def test_a_new_loss_says_the_installed_name_and_is_sound(installed: Path, tmp_path: Path) -> None:
    written = python(installed, tmp_path, "-m", "marginbench", "new-loss", "my_loss", "--folder", ".")
    assert written.returncode == 0, written.stderr
    assert "marginbench audit my_loss --plugin my_loss.py" in written.stdout
    assert "from marginbench.losses import" in (tmp_path / "my_loss.py").read_text()
    audited = python(installed, tmp_path, "-m", "marginbench", "audit", "my_loss", "--plugin", "my_loss.py")
    assert audited.returncode == 0, audited.stdout + audited.stderr


def test_the_ledger_is_inside(installed: Path, tmp_path: Path) -> None:
    code = "from marginbench import claims; print(len(claims.committed_ledger(claims.load_all()).findings))"
    done = python(installed, tmp_path, "-c", code)
    assert int(done.stdout) > 50, done.stderr


def test_the_maps_are_inside(installed: Path, tmp_path: Path) -> None:
    done = python(installed, tmp_path, "-c", "from marginbench.advice.maps_file import find_maps; print(find_maps())")
    assert Path(done.stdout.strip()) == installed / "marginbench" / "advice" / "maps.csv", done.stderr
