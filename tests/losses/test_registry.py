"""Losses are registered by being defined; broken and clashing files are named."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import losses

PROJECT = Path(__file__).parents[2]
TEN_LINES = '''\
"""A throw-away loss."""
from torch import Tensor
from losses import Batch, TargetOnlyHead, number, scale

class Throwaway(TargetOnlyHead):
    """ℓ_y = s·(c − m·c²): a newcomer's idea."""
    name = "throwaway"
    neutral = ({"m": 0.0}, "normface")
    s: float = scale(16.0)
    m: float = number(0.1, low=0.0, high=0.5, meaning="bend")
    def target_cosine(self, cosine: Tensor, batch: Batch) -> Tensor:
        return cosine - self.m * (1.0 - cosine) ** 2
'''


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the project's rooms, to drop files into."""
    for room in ("losses", "datasets", "benchmark"):
        shutil.copytree(PROJECT / room, tmp_path / room)
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_file_dropped_into_the_folder_adds_a_loss_with_its_fused_path(clone: Path) -> None:
    (clone / "losses" / "throwaway.py").write_text(TEN_LINES)
    code = """
import torch, losses
assert losses.__file__.startswith({here!r}), losses.__file__
assert "throwaway" in losses.names()
head = losses.create("throwaway", num_classes=3000, dim=8)
assert head.uses_fused_path(64)
x = torch.randn(64, 8, requires_grad=True)
head(x, torch.randint(3000, (64,))).backward()
print("trained")
"""
    done = run(clone, "-c", code.format(here=str(clone)))
    assert done.stdout == "trained\n", done.stderr
    audited = run(clone, "-m", "benchmark", "audit", "throwaway")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    row = next(line for line in audited.stdout.splitlines() if line.startswith("throwaway"))
    assert row.endswith("pass")
    assert "throwaway" in run(clone, "-m", "benchmark", "list", "losses").stdout


def test_a_file_with_a_syntax_error_is_named_and_the_rest_works(clone: Path) -> None:
    (clone / "losses" / "halfdone.py").write_text("class Halfdone(\n")
    done = run(clone, "-c", "import losses; print(len(losses.names())); losses.create('halfdone', 5, 4)")
    assert done.stdout == f"{len(losses.names())}\n"
    assert "halfdone.py: SyntaxError" in done.stderr
    assert "the other losses work" in done.stderr
    assert "InputError: the loss 'halfdone' could not be imported: losses/halfdone.py: SyntaxError" in done.stderr
    for file in (clone / "losses").glob("[a-z]*.py"):
        if file.stem not in ("halfdone", "normface"):
            file.unlink()  # auditing one loss is enough
    audited = run(clone, "-m", "benchmark", "audit")
    assert audited.returncode == 1
    assert "normface" in audited.stdout
    assert "could not be imported: losses/halfdone.py" in audited.stdout


def test_a_file_may_use_a_loss_that_is_not_imported_yet_and_one_that_fails_takes_no_other_along(clone: Path) -> None:
    (clone / "losses" / "aaa.py").write_text("from losses import SphereFace\nclass A(SphereFace):\n    name = 'aaa'\n")
    (clone / "losses" / "aab.py").write_text("from losses import NoSuchLoss\n")
    done = run(clone, "-c", "from losses import A; import losses; print(len(losses.names()), A.hyper['m'].default)")
    assert done.stdout == f"{len(losses.names()) + 1} 4\n", done.stderr
    assert "losses/aab.py: ImportError: cannot import name 'NoSuchLoss'" in done.stderr


def test_two_losses_of_one_name_are_an_error_that_names_both(clone: Path) -> None:
    (clone / "losses" / "second.py").write_text(TEN_LINES.replace('"throwaway"', '"cosface"'))
    done = run(clone, "-m", "benchmark", "audit", "cosface")
    assert done.returncode == 2
    assert "two losses are named 'cosface'" in done.stderr
    assert "cosface.py" in done.stderr
    assert "second.py" in done.stderr
    assert "Traceback" not in done.stderr


def install(folder: Path, package: str, text: str) -> None:
    """A package as pip would leave it: a module, and metadata that names it as an entry point."""
    (folder / f"{package}.py").write_text(text)
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[marginbench.losses]\n{package} = {package}\n")


def test_a_file_named_like_what_the_package_offers_breaks_nothing(clone: Path) -> None:
    (clone / "losses" / "number.py").write_text(TEN_LINES)
    code = "import losses; print(len(losses.names()), 'sphereface' in losses.names(), losses.broken(), losses.number)"
    done = run(clone, "-c", code)
    expected = f"{len(losses.names())} True {{'number': 'losses/number.py: InputError: losses.number would hide"
    assert expected in done.stdout
    assert "<function number" in done.stdout


def test_an_installed_package_adds_its_losses(clone: Path) -> None:
    install(clone, "someones", TEN_LINES)
    done = run(clone, "-c", "import losses; print(losses.create('throwaway', 5, 4).name, losses.broken())")
    assert done.stdout == "throwaway {}\n", done.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_module_anywhere\n", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        (TEN_LINES.replace('"throwaway"', '"cosface"'), "DuplicateLossError: two losses are named 'cosface'"),
    ],
)
def test_a_package_that_fails_is_named_and_the_rest_works(clone: Path, text: str, reason: str) -> None:
    install(clone, "someones", TEN_LINES)
    install(clone, "troubled", text)
    code = "import losses; print(losses.names()); print(losses.get('cosface').__module__); print(losses.broken())"
    names, cosface, broken = run(clone, "-c", code).stdout.splitlines()
    assert "'throwaway'" in names
    assert cosface == "losses.cosface"
    assert f"the plug-in troubled = troubled: {reason}" in broken


def test_losses_need_torch_and_nothing_else(clone: Path) -> None:
    """The room is usable alone: no other package of the project, nor numpy of its own accord, is imported."""
    code = """
import sys, torch
before = set(sys.modules)
import losses
losses.create("arcface", 5, 4)
new = {name.split(".")[0] for name in set(sys.modules) - before}
third_party = {name for name in new if name not in sys.stdlib_module_names and name not in ("losses", "torch")}
assert not third_party, third_party
"""
    assert run(clone, "-c", code).returncode == 0
