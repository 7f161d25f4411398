"""Writes the pages that come from code and data, so that they cannot go stale.

`docs/conf.py` calls `write` before every build. Each module makes one kind of page; nothing is trained.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmark.text import counted
from docs.generate import api, claims, command_line, experiment_file, losses, metrics, papers, reference

Pages = Iterator[tuple[str, str | bytes]]
FOLDERS = ("reference", "losses", "papers", "claims")
KINDS: Mapping[str, Callable[[], Pages]] = {
    "reference": reference.pages,
    "experiment file": experiment_file.pages,
    "command line": command_line.pages,
    "metrics": metrics.pages,
    "API": api.pages,
    "losses": losses.pages,
    "papers": papers.pages,
    "claims": claims.pages,
}


def write(folder: Path, say: Callable[[str], None] = print) -> None:
    """Writes all generated pages below `folder`. Pages that did not change keep their time, so that they are not built
    again; pages that no longer exist are deleted."""
    written = set()
    for kind, pages in KINDS.items():
        count = 0
        for place, content in pages():
            written.add(folder / place)
            _write(folder / place, content.encode() if isinstance(content, str) else content)
            count += place.endswith(".md")
        say(f"{kind}: {counted(count, 'page')}")
    for old in (path for name in FOLDERS for path in (folder / name).rglob("*") if path.is_file()):
        if old not in written:
            old.unlink()
    say("building the site")


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
