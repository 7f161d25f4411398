"""In the clone the installed names mean the same modules, so that there is one registry."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("installed", "here"),
    [
        ("marginbench.losses", "losses"),
        ("marginbench.losses.arcface", "losses.arcface"),
        ("marginbench.datasets", "datasets"),
        ("marginbench.metrics", "benchmark.metrics"),
        ("marginbench.statistics.ranks", "benchmark.statistics.ranks"),
    ],
)
def test_both_names_are_one_module(installed: str, here: str) -> None:
    module = importlib.import_module(installed)
    assert module is importlib.import_module(here)
    assert module.__name__ == here
    assert module.__spec__ is not None
    assert module.__spec__.name == here


@pytest.mark.parametrize("name", ["marginbench.nothing", "marginbench.losses.nothing", "marginbench.nothing.inside"])
def test_a_module_that_is_not_there(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module(name)


PLUG_IN = """
from {package} import TargetOnlyHead, scale


class {title}(TargetOnlyHead):
    name = "{name}"
    s: float = scale("auto")

    def target_cosine(self, cosine, batch):
        return cosine
"""


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=CLONE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plug_in_may_use_either_name(tmp_path: Path) -> None:
    for package, name in (("losses", "one"), ("marginbench.losses", "other")):
        text = PLUG_IN.format(package=package, name=name, title=name.title())
        (tmp_path / f"{name}.py").write_text(text)
    code = "import sys; from benchmark.plugins import load_plugin; print([*map(load_plugin, sys.argv[1:])])"
    assert run("-c", code, str(tmp_path / "one.py"), str(tmp_path / "other.py")) == "[['one'], ['other']]\n"


def test_python_m_marginbench() -> None:
    assert "arcface" in run("-m", "marginbench", "list", "losses")


def test_losses_alone_import_nothing_large() -> None:
    code = "import marginbench.losses, sys; print({'torchvision', 'pandas', 'typer'} & set(sys.modules))"
    assert run("-c", code) == "set()\n"
