"""All pages of the site, by their places, and the site on disk."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmark.leaderboard.entries import Entry, schema
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.make_entry import as_text
from benchmark.leaderboard.site.comparison import comparison_page
from benchmark.leaderboard.site.index import index_page
from benchmark.leaderboard.site.loss_page import loss_page
from benchmark.leaderboard.standings import Board, Standings
from benchmark.leaderboard.text import standings_table, why_apart
from benchmark.pages import Drawn, NotDrawn, render
from benchmark.tables import as_csv
from datasets._files import write_atomically

OWN = {"losses": ".html", "entries": ".json"}
Draw = Callable[[Entry, Board], Iterator[Drawn | NotDrawn]]


def build(found: Standings, entries: Entries, draw: Draw | None = None) -> Mapping[str, bytes]:
    """Each file by its place in the site. `draw` makes a loss's pictures; without it there are none."""
    files = {
        "index.html": index_page(found, entries),
        "compare.html": comparison_page(found.current),
        "submit.html": render(Path(__file__).parent, "submit.html.j2", here="submit", up="", schema=schema()),
        "entry.schema.json": schema().encode(),
    }
    if found.current is not None:
        files["standings.csv"] = as_csv(standings_table(found.current)).encode()
    boards = [board for board in (found.current, *found.others) if board is not None]
    for board in boards:
        for entry in board.entries.values():
            pictures = [] if draw is None else list(draw(entry, board))
            apart = "" if board is found.current else why_apart(board, found)
            files[f"losses/{entry.name}.html"] = loss_page(entry, board, pictures, apart)
            files[f"entries/{entry.name}.json"] = as_text(entry).encode()
    return files


def write_site(files: Mapping[str, bytes], folder: Path) -> Path:
    """Writes the files and removes pages of entries that are gone; the first page's place."""
    for name, content in files.items():
        write_atomically(folder / name, content)
    for own, ending in OWN.items():
        for path in (folder / own).glob(f"*{ending}"):
            if f"{own}/{path.name}" not in files:
                path.unlink()
    return folder / "index.html"
