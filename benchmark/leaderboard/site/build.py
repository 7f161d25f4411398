"""Builds all files of the site, and writes them."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from benchmark.leaderboard.entries import schema
from benchmark.leaderboard.entry_files import Entries
from benchmark.leaderboard.make_entry import as_text
from benchmark.leaderboard.site.comparison import comparison_page
from benchmark.leaderboard.site.curves import Curves, curves_of
from benchmark.leaderboard.site.dataset_page import dataset_page
from benchmark.leaderboard.site.index import index_page
from benchmark.leaderboard.site.loss_page import loss_page
from benchmark.leaderboard.site.maps import draw_maps
from benchmark.leaderboard.standings import Board, Standings
from benchmark.leaderboard.text import standings_table, why_apart
from benchmark.pages import render
from benchmark.store import Store
from benchmark.tables import as_csv
from datasets._files import write_atomically

OWN = {"losses": ".html", "entries": ".json"}


def build(found: Standings, entries: Entries, store: Store | None = None) -> Mapping[str, bytes]:
    """Each file by its path in the site. Pictures are drawn with the runs of `store`; without it there are none."""
    boards = [board for board in (found.current, *found.others) if board is not None]
    count = 5 + (found.current is not None) + 2 * sum(len(board.entries) for board in boards)
    curves: dict[str, Curves] = {}
    made = chain(
        *(_of_board(board, found, store, curves) for board in boards),
        _shared(found, entries, store is not None, curves),
    )
    return dict(tqdm(made, desc="site", total=count, unit="file", leave=False, disable=None))


def _of_board(
    board: Board, found: Standings, store: Store | None, curves: dict[str, Curves]
) -> Iterator[tuple[str, bytes]]:
    """The page and the file of each entry; `curves` gets what was measured for the page, by the entry's name."""
    apart = "" if board is found.current else why_apart(board, found)
    baseline_first = sorted(board.entries.values(), key=lambda entry: entry.label != board.baseline)
    for entry in baseline_first:  # every page shows the baseline's curves too
        if store is not None:
            curves[entry.name] = curves_of(entry, store)
        maps = None if store is None else draw_maps(entry, store)
        yield f"losses/{entry.name}.html", loss_page(entry, board, curves, maps, apart)
        yield f"entries/{entry.name}.json", as_text(entry).encode()


def _shared(
    found: Standings, entries: Entries, draw: bool, curves: Mapping[str, Curves]
) -> Iterator[tuple[str, bytes]]:
    yield "index.html", index_page(found, entries)
    yield "compare.html", comparison_page(found.current, curves)
    yield "datasets.html", dataset_page(found.current, draw)
    yield "submit.html", render(Path(__file__).parent, "submit.html.j2", here="submit", up="", schema=schema())
    yield "entry.schema.json", schema().encode()
    if found.current is not None:
        yield "standings.csv", as_csv(standings_table(found.current)).encode()


def write_site(files: Mapping[str, bytes], folder: Path) -> Path:
    """Writes the files, removes pages of entries that are gone, and returns the path of the first page."""
    for name, content in files.items():
        write_atomically(folder / name, content)
    for own, ending in OWN.items():
        for path in (folder / own).glob(f"*{ending}"):
            if f"{own}/{path.name}" not in files:
                path.unlink()
    return folder / "index.html"
