"""The wheel's imports: by the installed names, and nothing else is changed."""

import pytest

from hatch_build import rewritten

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
