"""A plug-in: one file with components of every kind, known to the command line and to the processes that train."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import datasets
import losses
from benchmark import plugins
from benchmark.plugins import files_of, load_plugin, plugin_at_fault
from tests.benchmark.engine.runner import PROJECT, Runner

LOSS = '''\
from losses import TargetOnlyHead, number, scale

class {name}(TargetOnlyHead):
    """A loss of a plug-in."""
    name = "{name}"
    s: float = scale(16.0)
    m: float = number(0.1, low=0.0, high=0.5, meaning="bend")

    def target_cosine(self, cosine, batch):
        return cosine - self.m * (1.0 - cosine) ** 2
'''
LOSS_AND_DATASET = '''\
from datasets.digits import Digits
from losses import TargetOnlyHead, number, scale
from bending import bend

class Bent(TargetOnlyHead):
    """A loss whose formula is in a helper."""
    name = "bent"
    s: float = scale(16.0)
    m: float = number(0.1, low=0.0, high=0.5, meaning="bend")

    def target_cosine(self, cosine, batch):
        return bend(cosine, self.m)

class Copies(Digits):
    """Digits of another name."""
    name = "copies"
    summary = "scikit-learn's digits, by another name"
'''
EVERYTHING = f'''\
{LOSS_AND_DATASET}
from torch import nn
from benchmark.backbones import Backbone

class Flat(Backbone):
    """One linear layer."""
    name = "flat"

    @classmethod
    def trunk_for(cls, image_shape):
        channels, height, width = image_shape
        return nn.Flatten(), channels * height * width

from benchmark.metrics import Metric, measure

@measure(Metric("samples", "Samples", "how many images were embedded", unit="", range=(0.0, 1e9)))
def samples(embeddings):
    return float(len(embeddings))
'''
HELPER = "def bend(cosine, m):\n    return cosine - m * (1.0 - cosine) ** 2\n"
EXPERIMENT = """\
baseline: normface
seeds: 1
dim: 8
backbone: flat
datasets: [copies]
recipe: {lr: 0.1, epochs: 1, batch: 64}
losses: [normface, bent]
"""


@pytest.fixture(autouse=True)
def forgotten_afterwards() -> Iterator[None]:
    path = list(sys.path)
    yield
    for plugin in list(plugins._sources):
        plugins._forget(plugins._modules(plugin))
        del plugins._sources[plugin]
    sys.path[:] = path


def written(folder: Path, text: str = LOSS_AND_DATASET) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "everything.py").write_text(text)
    (folder / "bending.py").write_text(HELPER)
    return folder / "everything.py"


def call(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmark", *words], cwd=PROJECT, capture_output=True, text=True, timeout=120
    )


def test_components_of_every_kind_are_named_in_an_experiment_and_run(tmp_path: Path) -> None:
    plugin = written(tmp_path / "mine", EVERYTHING)
    runner = Runner(tmp_path / "run", EXPERIMENT)
    code, output = runner.run("--plugin", str(plugin))
    assert code == 0, output
    assert len(runner.runs()) == 2
    assert "test/samples" in (runner.results / "tiny" / "summary.csv").read_text().splitlines()[0].split(",")
    code, output = runner.run("--plugin", str(plugin))
    assert "2 with a result, 0 to run" in output


def test_lists_show_what_a_plugin_defines(tmp_path: Path) -> None:
    plugin = written(tmp_path, EVERYTHING)
    kinds = {"losses": "bent", "datasets": "copies", "backbones": "flat", "metrics": "test/samples"}
    for kind, name in kinds.items():
        lines = call("list", kind, "--plugin", str(plugin)).stdout.splitlines()
        assert name in {line.split()[0] for line in lines}


def test_its_names_are_returned_and_it_is_imported_once(tmp_path: Path) -> None:
    plugin = written(tmp_path)
    with plugin.open("a") as file:
        file.write(f"open({str(tmp_path / 'log')!r}, 'a').write('imported ')\n")
    assert {"bent", "copies"} <= set(load_plugin(plugin))
    assert load_plugin(plugin) == load_plugin(str(plugin))
    assert (tmp_path / "log").read_text() == "imported "
    assert "copies" in datasets.names()
    assert files_of(plugin) == [plugin, tmp_path / "bending.py"]


def test_a_changed_plugin_is_imported_again(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(LOSS.format(name="before"))
    assert load_plugin(plugin) == ["before"]
    plugin.write_text(LOSS.format(name="after"))
    assert load_plugin(plugin) == ["after"]
    assert "before" not in losses.names()


def test_two_plugins_with_a_loss_of_one_name_are_an_error_that_names_both(tmp_path: Path) -> None:
    mine, twin = tmp_path / "mine.py", tmp_path / "twin.py"
    mine.write_text(LOSS.format(name="plugged"))
    twin.write_text(LOSS.format(name="plugged"))
    assert load_plugin(mine) == ["plugged"]
    assert losses.create("plugged", num_classes=4, dim=3).name == "plugged"
    with pytest.raises(losses.DuplicateLossError, match=r"two losses are named 'plugged': .*mine.py and .*twin.py"):
        load_plugin(twin)
    assert losses.get("plugged").__module__.startswith("marginbench_plugin_mine")


def test_a_dataset_named_like_one_of_ours_is_refused(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text("from datasets.digits import Digits\n\nclass Mine(Digits):\n    name = 'glyphs'\n")
    with pytest.raises(datasets.DuplicateNameError, match=r"two datasets are named 'glyphs': .*mine.py"):
        load_plugin(plugin)
    assert datasets.summary("glyphs") != datasets.summary("digits")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def broken(:\n", r"bad.py could not be imported: SyntaxError: .*\(line 11\)"),
        ("import no_such_module_anywhere\n", r"bad.py could not be imported: ModuleNotFoundError"),
        ("raise RuntimeError('on purpose')\n", r"RuntimeError: on purpose"),
        ("raise SystemExit(3)\n", r"SystemExit: 3"),
        ("\0", r"bad.py could not be imported: "),
    ],
)
def test_a_plugin_that_fails_leaves_nothing_behind(tmp_path: Path, text: str, message: str) -> None:
    before, path = (losses.names(), datasets.names()), list(sys.path)
    (tmp_path / "more.py").write_text("from datasets.digits import Digits\nclass More(Digits):\n    name = 'ghosts'\n")
    file = tmp_path / "bad.py"
    file.write_text(LOSS.format(name="ghost").replace("\n\n", "\nimport more\n", 1) + text)
    with pytest.raises(ValueError, match=message):
        load_plugin(file)
    assert (losses.names(), datasets.names()) == before
    assert sys.path == path


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("mine.py", "x = 1\n", r"mine.py defines no loss, dataset"), ("mine.txt", "", "is not a Python file")],
)
def test_files_that_are_no_plugins(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        load_plugin(tmp_path / name)
    with pytest.raises(ValueError, match="there is no plug-in file"):
        load_plugin(tmp_path / "nowhere.py")


def test_a_helper_whose_name_is_taken_is_named(tmp_path: Path) -> None:
    first = written(tmp_path / "first")
    load_plugin(first)
    second = tmp_path / "second" / "other.py"
    second.parent.mkdir()
    (second.parent / "bending.py").write_text(HELPER)
    second.write_text("from bending import bend\n" + LOSS.format(name="other"))
    with pytest.raises(ValueError, match=r"other.py imports bending.py, but 'bending' is .*first/bending.py: rename"):
        load_plugin(second)


def test_an_error_of_a_plugins_own_code_is_not_a_bug_of_marginbench(tmp_path: Path) -> None:
    runner = Runner(tmp_path, EXPERIMENT.replace("flat", "convnet").replace("copies", "digits"))
    plugin = tmp_path / "mine.py"
    plugin.write_text(LOSS.format(name="bent") + "\n    def __init__(self, *sizes, **given):\n        1 / 0\n")
    code, output = runner.run("--plugin", str(plugin))
    assert code == 2, output
    said = f"error: the plug-in fails: ZeroDivisionError: division by zero ({plugin}, line 13)"
    assert output.splitlines()[-1] == said
    assert "Traceback" not in output
    code, output = runner.run("--plugin", str(plugin), "--debug")
    assert code == 2
    assert "Traceback" in output


def test_other_errors_are_not_blamed_on_a_plugin(tmp_path: Path) -> None:
    load_plugin(written(tmp_path))
    with pytest.raises(ValueError, match="num_classes") as caught:
        losses.create("bent", num_classes=0, dim=3)
    assert plugin_at_fault(caught.value) == ""
