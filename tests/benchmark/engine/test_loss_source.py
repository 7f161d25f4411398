"""A loss's digest is of its file without the search space."""

import pytest

from benchmark.engine.loss_source import without_search

PLAIN = b'class A(Head):\n    name = "a"\n    m = number(0.5)\n\n    def f(self):\n        search = {"m": 1}\n'


@pytest.mark.parametrize(
    "declared",
    [
        b'    search = {"m": (0.0, 0.6)}\n',
        b'    search = {"m": (0.0, 0.6)}  # where tuning looks: m\xc3\xa4\xc3\x9fig\n',
        b'    search = {\n        "m": (0.0, 0.6),\n        "k": [1, 2],\n    }\n',
        b"    search = {}\r\n",
    ],
)
def test_a_literal_search_is_left_out(declared: bytes) -> None:
    lines = PLAIN.splitlines(keepends=True)
    assert without_search(b"".join([*lines[:3], declared, *lines[3:]])) == PLAIN


@pytest.mark.parametrize(
    "kept",
    [
        b'class A:\n    search = {"m": 1}; m = 5\n',
        b'class A:\n    m = 5; search = {"m": 1}\n',
        b"class A:\n    search = print('changes something')\n",
        b"class A:\n    search = m = 5\n",
        b"class A:\n    searches = {}\n",
        b"search = {}\n",
        b"class A:\n    search = \n",
        b"search \x00",
        PLAIN,
    ],
)
def test_anything_else_counts(kept: bytes) -> None:
    assert without_search(kept) == kept
