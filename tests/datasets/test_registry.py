"""Names, options and files that are dropped in."""

from __future__ import annotations

import doctest
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import datasets
from datasets import Data, Dataset, DuplicateNameError, Whole, _load, _registry
from datasets._place import Place

PLUG_IN = """
import datasets

class Toy(datasets.Dataset):
    name = "{name}"
    def build(self, place, seed):
        return datasets.load("digits", seed=seed)
"""


@pytest.fixture
def drop_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(datasets, "__path__", [*datasets.__path__, str(tmp_path)])
    yield tmp_path
    for file in tmp_path.glob("*.py"):
        _registry.forget(f"datasets.{file.stem}")
        _registry._seen.discard(f"datasets.{file.stem}")
        _registry._broken.get("datasets", {}).pop(file.stem, None)


def test_names_are_sorted() -> None:
    assert datasets.names() == sorted(datasets.names())
    assert datasets.wrapper_names() == sorted(datasets.wrapper_names())


def test_a_file_adds_a_dataset(drop_in: Path) -> None:
    (drop_in / "toy_one.py").write_text(PLUG_IN.format(name="toy one"))
    (drop_in / "_hidden.py").write_text(PLUG_IN.format(name="hidden"))
    assert "toy one" in datasets.names()
    assert "hidden" not in datasets.names()
    assert datasets.load("toy one").num_classes == 10


def test_a_broken_file_is_named_and_the_rest_works(drop_in: Path) -> None:
    (drop_in / "toy_broken.py").write_text("1 / 0")
    with pytest.warns(RuntimeWarning, match=r"datasets/toy_broken\.py: ZeroDivisionError"):
        assert "digits" in datasets.names()
    with pytest.raises(ValueError, match=r"'toy_broken' could not be imported: .*division by zero"):
        datasets.load("toy_broken")


def test_a_file_cannot_hide_the_interface(drop_in: Path) -> None:
    (drop_in / "check.py").write_text("")
    with pytest.warns(RuntimeWarning, match="rename the file"):
        datasets.names()
    assert callable(datasets.check)


def test_a_second_claim_to_a_name_is_an_error(drop_in: Path) -> None:
    (drop_in / "toy_second.py").write_text(PLUG_IN.format(name="digits"))
    for _ in range(2):
        with pytest.raises(DuplicateNameError, match=r"named 'digits': .*digits\.py and .*toy_second\.py"):
            datasets.names()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("glyps", {}, "no dataset 'glyps'; did you mean 'glyphs'"),
        ("glyphs", {"clases": 5}, r"no option 'clases' .*did you mean 'classes'"),
        ("glyphs", {"classes": 1}, "classes=1: expected a whole number from 2 to 1000"),
        ("glyphs", {"classes": 5.0}, r"classes=5\.0"),
        ("glyphs", {"classes": True}, "classes=True"),
        ("digits", {"val_share": float("nan")}, "val_share=nan"),
        ("digits", {"seed": 1.5}, r"seed=1\.5"),
        ("mnist", {"download": "yes"}, "download='yes': expected True or False"),
        ("folder", {"path": 3}, "path=3: expected a text"),
        ("omniglot", {"protocol": "opne"}, "did you mean 'open'"),
    ],
)
def test_wrong_options_are_named(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        datasets.load(name, **options)  # type: ignore[arg-type]


def test_resolve_fills_in_defaults_and_leaves_out_what_does_not_matter() -> None:
    resolved = datasets.resolve("mnist", wrappers=[{"subset": {"classes": 3}}])
    assert resolved["options"] == {"val_share": 0.1}
    subset = {"classes": 3, "per_class": 0, "share": 1.0, "evaluation": False}
    assert resolved["wrappers"] == [{"subset": subset}]
    with pytest.raises(ValueError, match="val_share"):
        datasets.resolve("mnist", val_share=2)


@pytest.mark.contract
@pytest.mark.parametrize("name", [*datasets.names(), *datasets.wrapper_names()])
def test_every_option_says_what_it_means_and_accepts_its_default(name: str) -> None:
    assert datasets.summary(name)
    for option in datasets.options(name).values():
        assert option.meaning
        assert option.allowed()
        assert option.accept(option.default) == option.default


def test_options_are_inherited_and_can_be_overridden() -> None:
    class Parent(Dataset):
        count = Whole(3, "a count", low=1, high=5)

        def build(self, place: Place, seed: int) -> Data:
            raise NotImplementedError

    class Child(Parent):
        count = Whole(4, "another", low=4, high=9)

    assert Parent().count == 3
    assert Child().values() == {"count": 4}
    assert Child(count=9).count == 9


def test_import_is_light_and_one_way() -> None:
    heavy = "torchvision sklearn matplotlib losses benchmark"
    code = f"import sys, datasets; datasets.names(); print([name for name in {heavy.split()!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_torchvision_imports() -> None:
    code = "from datasets._torchvision import ensure_torchvision as it; print(it().models.resnet18.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "resnet18"


def test_check_counts() -> None:
    data = datasets.load("digits")
    assert datasets.check(data, min_classes=10, min_per_class=50) is data
    with pytest.raises(ValueError, match=r"10 training class.*at least 11"):
        datasets.check(data, min_classes=11)
    with pytest.raises(ValueError, match="training classes have fewer than 500"):
        datasets.check(data, min_per_class=500)
    with pytest.raises(ValueError, match=r"validation split has .* pair"):
        datasets.check(data, min_pairs=10**6)


def test_the_examples_of_docstrings_hold() -> None:
    failed, tried = doctest.testmod(_load)
    assert tried > 0
    assert failed == 0
