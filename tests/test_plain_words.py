"""The style check of `make lint`: what it finds, where, and in which files."""

import re

from tests.plain_words import ROOT, find, texts, word_list


def test_a_phrase_is_found_with_its_line_across_line_ends_and_comments() -> None:
    words = {"told apart": "different", "(?<!there )is no (?!longer)": "is not a"}
    text = "x = 1  # losses are not told\n# apart here\nThere is no file.\nIt is no longer.\nThis IS  no\n  file."
    assert sorted(find(text, words)) == [(1, "told apart", "different"), (5, "IS no ", "is not a")]


def test_part_of_a_word_is_not_a_hit() -> None:
    assert list(find("renewed; a new one", {"anew": "again", "new": "fresh"})) == [(1, "new", "fresh")]


def test_every_listed_phrase_is_a_pattern_with_a_plain_word() -> None:
    words = word_list()
    assert "anew" in words
    for pattern, plain in words.items():
        assert re.compile(pattern)
        assert list(find(plain, {pattern: plain})) == [], "the advice itself would be refused"


def test_texts_are_what_people_read() -> None:
    names = {file.relative_to(ROOT).as_posix() for file in texts()}
    assert {"README.md", "losses/arcface.py", "notebooks/quickstart.ipynb", "benchmark/report/page.html.j2"} <= names
    assert not any(name.startswith("results/") or name.endswith("CHANGELOG.md") for name in names)
