"""A page for every paper table: the question, the published values with their sources, the measured table."""

from collections.abc import Iterator

from benchmark.papers import Paper
from docs.generate import committed, related
from docs.generate.markdown import bullets, code, fenced, page, table, text, toctree

INTRODUCTION = (
    "Each page has the published values of a paper's table with their sources, and beside them what this suite "
    "measured. Settings differ from the papers'; every page says how."
)
SCALES = {
    "smoke": "seconds; checks that everything works, the values mean nothing",
    "cpu": "minutes on a laptop, on data that needs no download",
    "full": "the paper's own data, which you have to get yourself; needs a GPU",
}


def pages() -> Iterator[tuple[str, str | bytes]]:
    papers = related.all_papers()
    rows = [[f"[{text(one.title)}]({one.name}.md)", text(one.claim)] for one in papers]
    names = [one.name for one in papers]
    yield "papers/index.md", page("Paper tables", INTRODUCTION, table(("table", "question"), rows), toctree(names))
    for paper in papers:
        yield f"papers/{paper.name}.md", page(text(paper.title), *_blocks(paper))


def _blocks(paper: Paper) -> Iterator[str]:
    yield f"**The question:** does this hold? {text(paper.claim)}"
    yield f"Losses: {', '.join(f'[{name}](../losses/{name}.md)' for name in related.losses_of_paper(paper))}."
    yield "## Published"
    yield _published(paper)
    yield bullets(_column(one) for one in paper.columns if one.meaning or one.data)
    yield "Sources:"
    yield "\n".join(f"{number}. {text(source.in_words)}" for number, source in enumerate(paper.sources, 1))
    yield "## Run it"
    yield fenced("console", f"make table-{paper.name}\npython -m benchmark table {paper.name} --scale smoke")
    yield table(("scale", "what it is"), [[code(name), SCALES[name]] for name in SCALES if name in paper.scales])
    yield from (f"`{name}`: {text(one.note)}" for name, one in paper.scales.items() if one.note)
    yield committed.paper_table(paper.name) or "## Measured\n\nNo measured table is committed."


def _column(column: object) -> str:
    name, unit, data, meaning = (getattr(column, key) for key in ("name", "unit", "data", "meaning"))
    return f"**{text(name)}**, {unit}: {text(', '.join(part for part in (meaning, data) if part))}"


def _published(paper: Paper) -> str:
    number = {source: place for place, source in enumerate(paper.sources, 1)}
    rows = []
    for row in paper.rows:
        cells = []
        for column in paper.columns:
            value = row.published.get(column.name)
            cells.append("–" if value is None else f"{value.value:.2f} <sup>{number[value.source]}</sup>")
        rows.append([text(row.label), *cells])
    return table(("row", *(text(f"{one.name}, {one.unit}") for one in paper.columns)), rows)
