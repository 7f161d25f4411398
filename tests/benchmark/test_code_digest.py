"""Digests of losses' and backbones' code: what changes them, and what does not."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import losses
from benchmark import backbones, code_tree
from benchmark.code_digest import backbone_digest, code_digest, loss_digest, own_files
from benchmark.code_tree import essential

PROJECT = Path(__file__).parents[2]
SOURCE = '''\
"""A loss."""

import math

from losses import TargetOnlyHead, number

HALF = 0.5


class Base(TargetOnlyHead):
    def shift(self, value):
        return value - self.m  # the margin


class Mine(Base):
    """What it computes."""

    m: float = number(0.1, low=0.0, high=1.0, meaning="margin")
    search = {"m": (0.0, 0.5)}

    def target_cosine(self, cosine, batch):
        """The target."""
        return self.shift(cosine) * HALF
'''
KEEPS = {
    "docstring of the file": ('"""A loss."""', '"""Another text."""'),
    "docstring of the class": ('"""What it computes."""', '"""Said differently.\n\n    At length."""'),
    "docstring of a method": ('        """The target."""\n', ""),
    "comment": ("  # the margin", ""),
    "new comment": ("HALF = 0.5", "# why\nHALF = 0.5"),
    "import": ("import math\n", "import torch\nimport os.path\n"),
    "where it is imported from": ("from losses import", "from marginbench.losses import"),
    "import for types": ("HALF = 0.5", "if TYPE_CHECKING:\n    from torch import Tensor\n\nHALF = 0.5"),
    "search": ('{"m": (0.0, 0.5)}', '{"m": (0.0, 0.9, "log")}'),
    "no search": ('    search = {"m": (0.0, 0.5)}\n', ""),
    "search with a type": ("search =", "search: ClassVar[dict[str, object]] ="),
    "formatting": ("return self.shift(cosine) * HALF", "return (\n            self.shift( cosine )*HALF\n        )"),
    "quotes": ('meaning="margin"', "meaning='margin'"),
    "u before a text": ('meaning="margin"', 'meaning=u"margin"'),
    "pass": ("        return value - self.m", "        pass\n        return value - self.m"),
}
CHANGES = {
    "method": ("self.shift(cosine) * HALF", "self.shift(cosine) + HALF"),
    "default": ("number(0.1,", "number(0.2,"),
    "bound": ("high=1.0", "high=2.0"),
    "constant": ("HALF = 0.5", "HALF = 0.25"),
    "base class": ("value - self.m", "value - 2 * self.m"),
    "bases": ("class Mine(Base)", "class Mine(TargetOnlyHead)"),
    "name": ("def shift", "def moved"),
    "search that computes": ('{"m": (0.0, 0.5)}', "dict(m=(0.0, math.pi))"),
    "search in a method": ("        return value - self.m", '        search = {"m": 1}\n        return value - self.m'),
    "search of the file": ("HALF = 0.5", "HALF = 0.5\nsearch = {}"),
    "two names": ("search =", "search = found ="),
    "type of a number": ("HALF = 0.5", "HALF = 1"),
    "text that is used": ('meaning="margin"', 'meaning="a margin"'),
}


def edited(change: tuple[str, str]) -> bytes:
    old, new = change
    assert SOURCE.count(old) == 1 or old.startswith(("import", "search"))
    return SOURCE.replace(old, new, 1).encode()


@pytest.mark.parametrize("change", KEEPS.values(), ids=KEEPS)
def test_what_changes_no_run_keeps_the_digest(change: tuple[str, str]) -> None:
    assert edited(change) != SOURCE.encode()
    assert essential(edited(change)) == essential(SOURCE.encode())


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_other_edit_changes_the_digest(change: tuple[str, str]) -> None:
    assert essential(edited(change)) != essential(SOURCE.encode())


def test_encoding_and_line_endings_do_not_count() -> None:
    text = SOURCE.replace('"margin"', '"""Größe\nund Maß"""')
    plain = essential(text.encode())
    assert essential(text.replace("\n", "\r\n").encode()) == plain
    assert essential(text.encode("utf-8-sig")) == plain
    assert essential(("# -*- coding: latin-1 -*-\n" + text).encode("latin-1")) == plain


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_other_versions_of_python_give_the_same(version: str) -> None:
    """For every loss and backbone that there is."""
    files = [*(PROJECT / "losses").glob("*.py"), *(PROJECT / "benchmark" / "backbones").glob("*.py")]
    script = (
        "import hashlib, runpy, sys\n"
        "essential = runpy.run_path(sys.argv[1])['essential']\n"
        "for path in sys.argv[2:]: print(hashlib.sha256(essential(open(path, 'rb').read()).encode()).hexdigest())\n"
    )
    arguments = ["-c", script, code_tree.__file__, *map(str, files)]
    command = shutil.which(f"python{version}") or ""
    if not command or subprocess.run([command, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"there is no Python {version} here")
    there, here = (
        subprocess.run([one, *arguments], capture_output=True, text=True) for one in (command, sys.executable)
    )
    assert len(here.stdout.split()) == len(files)
    assert there.stdout == here.stdout, there.stderr


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., type]:
    """Writes files into a folder and imports a class from the first."""

    def write(name: str = "Mine", folder: str = "plugins", **files: str) -> type:
        (tmp_path / folder).mkdir(exist_ok=True)
        for stem, text in files.items():
            (tmp_path / folder / f"{stem}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path / folder)
        stem = next(iter(files))
        monkeypatch.delitem(sys.modules, stem, raising=False)
        spec = importlib.util.spec_from_file_location(stem, tmp_path / folder / f"{stem}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, stem, module)
        spec.loader.exec_module(module)
        return vars(module)[name]  # type: ignore[no-any-return]

    return write


@pytest.mark.parametrize(
    "how", ["import digest_helper", "from digest_helper import HALF", "from . import digest_helper"]
)
def test_a_helper_in_the_folder_counts_and_so_does_its_own(load: Callable[..., type], tmp_path: Path, how: str) -> None:
    users = "class Mine:\n    def f(self):\n        " + how + "\n"
    mine = load(
        digest_user=users,
        digest_helper="from _digest_deeper import HALF\n",
        _digest_deeper="HALF = 0.5\n",
        unrelated="HALF = 1\n",
    )
    folder, before = tmp_path / "plugins", code_digest(mine)
    names = ["digest_user.py", "digest_helper.py", "_digest_deeper.py"]
    assert own_files(folder / "digest_user.py") == [folder / name for name in names]
    (folder / "unrelated.py").write_text("HALF = 2\n")
    (folder / "digest_helper.py").write_text('"""A text."""\nfrom _digest_deeper import HALF\n')
    assert code_digest(mine) == before
    (folder / "_digest_deeper.py").write_text("HALF = 0.25\n")
    assert code_digest(mine) != before


def test_where_a_plug_in_lies_does_not_count(load: Callable[..., type]) -> None:
    text = "import here_helper\nclass Mine: pass\n"
    one = code_digest(load(folder="one", digest_place=text, here_helper="HALF = 0.5\n"))
    two = code_digest(load(folder="two", digest_place=text, here_helper="HALF = 0.5\n"))
    three = code_digest(load(folder="three", digest_place=text, here_helper="HALF = 0.25\n"))
    assert one == two != three


@pytest.mark.parametrize("package", ["losses", "marginbench.losses"])
def test_a_plug_in_follows_the_losses_that_it_derives_or_imports_from(load: Callable[..., type], package: str) -> None:
    """Its digest is of its own file and of theirs, but of nothing that is installed."""
    derived = load(digest_derived="from losses.arcface import ArcFace\nclass Mine(ArcFace): pass\n")
    alone = load(digest_alone="class Mine: pass\n")
    text = f"class Mine:\n    def f(self):\n        from {package}.adacos_fixed import fixed_scale\n        return 1\n"
    using = load(digest_using=text)
    without = load(digest_without="class Mine:\n    def f(self):\n        return 1\n")
    assert len({code_digest(one) for one in (derived, alone, using, without)}) == 4


def test_adacos_follows_adacos_fixed() -> None:
    folder = PROJECT / "losses"
    assert own_files(folder / "adacos.py") == [folder / "adacos.py", folder / "adacos_fixed.py"]
    assert own_files(folder / "arcface.py") == [folder / "arcface.py"]


def test_what_has_no_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = type("Typed", (), {"__module__": "nowhere"})
    with pytest.raises(ValueError, match="Typed is not defined in a file"):
        code_digest(typed)


EDITS = {
    "losses/adacos_fixed.py": ("math.sqrt(2.0)", "math.sqrt(3.0)", {"adacos", "adacos_fixed"}),
    "losses/arcface.py": ("radians(0.5", "radians(0.4", {"arcface"}),
    "losses/_fused.py": ("threshold=50.0", "threshold=40.0", set()),
    "benchmark/backbones/convnet.py": ("(16, 32, 64)", "(16, 32, 65)", {"convnet"}),
    "benchmark/backbones/_backbone.py": ("127.5", "127.0", set()),
}


ALL_DIGESTS = """
import json, sys
from pathlib import Path
import losses
from benchmark import backbones
from benchmark.code_digest import backbone_digest, loss_digest

def every():
    of_losses = {name: loss_digest(name) for name in losses.names()}
    return of_losses | {name: backbone_digest(name) for name in backbones.names()}

found = [every()]
for file, (old, new) in json.loads(sys.argv[1]).items():
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new), encoding="utf-8")
    found.append(every())
    Path(file).write_text(text, encoding="utf-8")
print(json.dumps(found))
"""


def test_an_edit_changes_the_digest_of_that_component_alone(copy: Path) -> None:
    every = {name: loss_digest(name) for name in losses.names()}
    every |= {name: backbone_digest(name) for name in backbones.names()}
    edits = {file: (old, new) for file, (old, new, _) in EDITS.items()}
    there, *after = json.loads(in_copy(copy, "-c", ALL_DIGESTS, json.dumps(edits)))
    assert there == every  # the same code in another place
    for found, (_, _, expected) in zip(after, EDITS.values(), strict=True):
        assert {name for name in every if found[name] != every[name]} == expected


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for room in ("losses", "datasets", "benchmark"):
        shutil.copytree(PROJECT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def in_copy(project: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(project)}
    done = subprocess.run([sys.executable, *arguments], cwd=project, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def test_an_edited_backbone_is_trained_again_and_its_docstring_is_not_code(copy: Path) -> None:
    (copy / "tiny.yaml").write_text(
        "baseline: softmax\nseeds: 1\ndim: 4\ndatasets: [digits]\nrecipe: {epochs: 1}\nlosses: [softmax]\n"
    )
    backbone, runs = copy / "benchmark" / "backbones" / "convnet.py", copy / "results" / "tiny" / "runs"
    found = []
    for old, new in (("A small", "A small"), ("A small, quick", "A quick, small"), ("(16, 32, 64)", "(16, 32, 48)")):
        backbone.write_text(backbone.read_text().replace(old, new))
        in_copy(copy, "-m", "benchmark", "run", "tiny.yaml", "--results", "results", "--workers", "1", "--no-report")
        found.append({path.name for path in runs.glob("[0-9a-f]*")})
    first, described, edited_too = found
    assert first == described
    assert len(first) == 1
    shown = "from pathlib import Path\nfrom benchmark import results, spec\n"
    shown += "print(*(run.id for run in results.collect(spec.load('tiny.yaml'), Path('results')).runs))\n"
    assert {in_copy(copy, "-c", shown).strip()} == edited_too - first
