"""A loss is short: what it adds to the contract fits on a screen."""

import ast
from pathlib import Path

import pytest

import losses
from tests.losses.longhand_formulas import FORMULAS
from tests.losses.test_longhand import OWN

FOLDER = Path(losses.__file__).parent


def lines_of_code(text: str) -> int:
    """Lines that are neither blank nor part of the module's or a class's docstring."""
    tree = ast.parse(text)
    documented = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    left_out: set[int] = set()
    for node in documented:
        if ast.get_docstring(node) is not None:
            left_out.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return sum(bool(line.strip()) and number not in left_out for number, line in enumerate(text.splitlines(), start=1))


def test_counting() -> None:
    text = '"""One\ntwo."""\n\nimport a\n\nclass A:\n    """Three\n\n    four."""\n    b = 1  # five\n'
    assert lines_of_code(text) == 3


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_fewer_than_40_lines_of_code(name: str) -> None:
    assert lines_of_code((FOLDER / f"{name}.py").read_text()) < 40


@pytest.mark.parametrize("name", OWN)
def test_the_docstring_says_formula_paper_and_use(name: str) -> None:
    words = losses.get(name).__doc__ or ""
    assert "= " in words.splitlines()[0] + words.splitlines()[1]
    assert "Paper: " in words or "Source: " in words
    assert "Good for: " in words
