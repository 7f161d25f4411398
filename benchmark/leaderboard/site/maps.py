"""Maps of a loss's embeddings, where its runs are stored here."""

from benchmark.leaderboard.entries import Entry
from benchmark.leaderboard.make_entry import first_run
from benchmark.pages import Drawn, NotDrawn
from benchmark.plots import as_png, tsne
from benchmark.store import Store

TITLE = "Maps of the embeddings"
CAPTION = (
    "t-SNE of the directions of test images of at most ten classes, from the lowest seed. Neighbours in a map are "
    "neighbours among the embeddings; distances between groups, and their sizes, mean nothing."
)


def draw_maps(entry: Entry, store: Store) -> Drawn | NotDrawn:
    """One picture with a map for each dataset, or why there is none."""
    maps = {}
    for result in entry.results:
        run = first_run(result, store)
        found = None if run is None else tsne.of_run(run)
        if found is not None:
            maps[result.label] = found
    if not maps:
        return NotDrawn(TITLE, "the embeddings are not on the machine that made this site")
    png = as_png(tsne.figure(maps))
    alt = f"t-SNE maps of the test embeddings of {entry.label}"
    return Drawn("maps", TITLE, CAPTION, section="", png=png, svg=b"", alt=alt)  # a page holds the PNG alone
