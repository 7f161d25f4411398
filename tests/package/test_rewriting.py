"""The wheel's imports: by the installed names, and nothing else is changed."""

import ast
from pathlib import Path

import pytest

from hatch_build import PACKAGES, rewritten

CLONE = Path(__file__).parents[2]

DOCSTRING = '''"""Use:

    >>> from {0}losses import get
    >>> import torch, {1}
"""
'''
INDENTED = "if True:\n    é = 1; from {0}losses import (\n        Head,\n    )\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from losses import Head\n", "from marginbench.losses import Head\n"),
        ("from benchmark.spec import load\n", "from marginbench.spec import load\n"),
        ("import datasets\n", "import marginbench.datasets as datasets\n"),
        ("import losses as registry\n", "import marginbench.losses as registry\n"),
        ("import os, losses.arcface as a\n", "import os, marginbench.losses.arcface as a\n"),
        (INDENTED.format(""), INDENTED.format("marginbench.")),
        (DOCSTRING.format("", "losses"), DOCSTRING.format("marginbench.", "marginbench.losses as losses")),
        ('words = "from losses import Head"\n', None),
        ('"""Numbers\nfrom losses that have a margin\n"""\n', None),
        ("from torch import losses\nfrom . import datasets\nfrom lossesx import a\n", None),
        ("losses = datasets = benchmark = 1\n", None),
    ],
)
def test_rewritten(source: str, expected: str | None) -> None:
    assert rewritten(source.encode()).decode() == (expected or source)


def test_an_import_that_binds_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"line 2: `import losses\.arcface` cannot be renamed"):
        rewritten(b"import os\nimport losses.arcface\n")


def test_no_string_names_a_module() -> None:
    """The build cannot rename it: code that names its own package in a string uses `__package__`."""
    found = []
    for file in (one for package in PACKAGES for one in sorted((CLONE / package).rglob("*.py"))):
        texts = {node.value for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Constant)}
        names = [
            text for text in texts if isinstance(text, str) and text.startswith(tuple(f"{one}." for one in PACKAGES))
        ]
        places = [(name, CLONE / name.replace(".", "/")) for name in names if " " not in name]
        found += [(file.name, name) for name, place in places if place.is_dir() or place.with_suffix(".py").is_file()]
    assert found == []
