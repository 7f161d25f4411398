"""Finds phrases of the word list in pyproject.toml: `make lint` runs it over all texts that git knows."""

import re
import subprocess
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENDINGS = (".md", ".py", ".j2", ".yaml", ".ipynb")


def word_list(pyproject: Path = ROOT / "pyproject.toml") -> dict[str, str]:
    """Patterns by what to write instead."""
    listed: dict[str, str] = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["marginbench"]["style"]
    return listed


def find(text: str, words: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    """The line, the phrase as the text has it, and what to write instead, for every hit."""
    found = [word for word in re.finditer(r"\S+", text) if word[0] != "#"]  # a phrase may go on in the next line
    flat = " ".join(word[0] for word in found)
    places = [0, *accumulate(len(word[0]) + 1 for word in found)]
    for pattern, plain in words.items():
        for hit in re.finditer(rf"\b(?:{pattern})\b", flat, re.IGNORECASE):
            first = found[bisect_right(places, hit.start()) - 1]
            yield text.count("\n", 0, first.start()) + 1, hit[0], plain


def texts() -> list[Path]:
    """Files that people read. Results are records, and the changelog tells history."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / line for line in listed.splitlines() if line.endswith(ENDINGS) and not line.startswith("results/")]
    return [file for file in files if file.is_file() and file.name not in ("CHANGELOG.md", "test_plain_words.py")]


def main() -> int:
    words, count = word_list(), 0
    for file in texts():
        for line, phrase, plain in sorted(find(file.read_text(encoding="utf-8"), words)):
            print(f"{file.relative_to(ROOT)}:{line}: {phrase!r}: write {plain!r}")
            count += 1
    if count:
        print(f"{count} phrases to replace; the word list is [tool.marginbench.style] in pyproject.toml")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
