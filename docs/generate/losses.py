"""A page for every registered loss: formula, curves, hyper-parameters, released code, results."""

from collections.abc import Iterator, Mapping
from itertools import product

import losses
from benchmark.findings.about_losses import family
from benchmark.leaderboard.text import standings_table
from benchmark.tables import Table
from benchmark.tables.markdown import as_markdown
from docs.generate import committed, curves, related
from docs.generate.markdown import Description, bullets, code, described, formula, page, table, text, toctree

RELEASED = "Released code"
GRADIENT = (
    "`gradient` chooses between two versions of the same loss. With `exact`, autograd goes through the margin. With "
    "`detached`, the margin is an offset without gradient, so the target's slope is the one without margin. Both have "
    "the same value but train differently."
)
BEYOND = (
    "`beyond` says how the target continues where the shifted angle exceeds π. `linear` continues with "
    "cos θ − m·sin m, as the first ArcFace code did. `clamp` stays at cos π, which has no exact gradient. `none` "
    "keeps the cosine, which rises again: beyond that angle the loss pushes an embedding away from its class."
)
INTRODUCTION = (
    "One page per loss, with its formula, curves, hyper-parameters and results. [Choosing a "
    "loss](../choosing-a-loss.md) says which one to start with."
)


def pages() -> Iterator[tuple[str, str | bytes]]:
    names = losses.names()
    found = {name: losses.get(name) for name in names}
    rows = [[f"[{name}]({name}.md)", formula(described(one).formula), family(one)] for name, one in found.items()]
    overview = table(("loss", "formula", "family"), rows)
    yield "losses/index.md", page("Losses", INTRODUCTION, overview, _notation(), toctree(names))
    for name in names:
        shapes = curves.shapes_of(name)
        pictures = curves.draw(shapes)
        for (quantity, theme), picture in pictures.items():
            yield f"losses/curves/{name}-{quantity}-{theme}.svg", picture
        yield f"losses/{name}.md", _page(name, shapes)


def _page(name: str, shapes: Mapping[str, curves.Shape]) -> str:
    loss = losses.get(name)
    about = described(loss)
    return page(
        name,
        f'<p class="formula">{formula(about.formula)}</p>',
        *(f"**{label}:** {text(said)}" if label else text(said) for label, said in about.parts if label != RELEASED),
        *(f"```text\n{block}\n```" for block in about.aligned),
        "## Use it",
        _use(loss),
        "## Curves",
        _pictures(name, shapes),
        _caption(name, shapes),
        "## Hyper-parameters",
        _hyper(loss),
        *_released(about),
        "## Results",
        *_results(name),
        *_related(name),
    )


def _notation() -> str:
    return (
        "## Notation\n\nx is an embedding, W<sub>j</sub> the weight vector of class j, y the class of the label and "
        "C the number of classes. θ<sub>j</sub> is the angle between x and W<sub>j</sub>. ℓ<sub>j</sub> is the logit "
        "of class j; the loss is the cross-entropy of the logits unless the formula begins with L. s is the scale, m "
        "the margin. Angles are in radians."
    )


def _use(loss: type[losses.Head]) -> str:
    call = f'head = losses.create("{loss.name}", num_classes=100, dim=64)'
    lines = ["import torch", "import losses", "", call, "embeddings, labels = torch.randn(8, 64), torch.arange(8)"]
    return "\n".join(["```python", *lines, "value = head(embeddings, labels, index=torch.arange(8))", "```"])


def _pictures(name: str, shapes: Mapping[str, curves.Shape]) -> str:
    said = curves.words(shapes[name])
    return "\n".join(
        f"![{said[quantity]}](curves/{name}-{quantity}-{theme}.svg){{.only-{theme}}}"
        for quantity, theme in product(said, curves.THEMES)
    )


def _caption(name: str, shapes: Mapping[str, curves.Shape]) -> str:
    dashed = " Dashed: normface at the same scale, which has no margin." if len(shapes) > 1 else ""
    return (
        f"{name} with its default settings and {curves.CLASSES} classes, before training. The angle θ is the one "
        "between an embedding and the weight of its own class; all other classes are at 90°. A larger gradient pulls "
        f"the embedding more strongly towards its class.{dashed}"
    )


def _hyper(loss: type[losses.Head]) -> str:
    if not loss.hyper:
        return "None."
    rows = [
        [
            code(name),
            code(_python(hyper.default)),
            text(hyper.meaning),
            text(hyper.allowed()),
            text(hyper.search.in_words() if hyper.search else "not searched"),
        ]
        for name, hyper in loss.hyper.items()
    ]
    shown = [table(("name", "default", "meaning", "allowed", "searched by `tune`"), rows)]
    shown += [GRADIENT] if "gradient" in loss.hyper else []
    shown += [BEYOND] if "beyond" in loss.hyper else []
    return "\n\n".join(shown)


def _python(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _released(about: Description) -> list[str]:
    said = [words for label, words in about.parts if label == RELEASED]
    return (
        ["## What released code does differently", *(text(words[0].upper() + words[1:]) for words in said)]
        if said
        else []
    )


def _results(name: str) -> Iterator[str]:
    tuned = committed.default_table()
    if rows := tuned.rows_of(name):
        yield "### After tuning: `default`"
        yield table(tuned.headings, rows)
        yield "Bold: best of its column. Underlined: not significantly different from the best."
        yield "The whole table: [results/reference/default](../../results/reference/default/table.md)."
    board = committed.board()
    labels = [] if board is None else [label for label, entry in board.entries.items() if entry.loss == name]
    if board is not None and labels:
        places = [f"{label} is number {board.order.index(label) + 1} of {len(board.order)}" for label in labels]
        yield "### On the leaderboard, not tuned"
        yield f"{text('; '.join(places))} by average rank."
        yield _rows_of(standings_table(board), labels)
    if not rows and not labels:
        yield f"No committed result has this loss. `make leaderboard LOSS={name}` makes one."


def _rows_of(standings: Table, labels: list[str]) -> str:
    lines = as_markdown(standings).splitlines()
    head, *body = [line for line in lines if line.startswith("|")]
    kept = [line for line, row in zip(body[1:], standings.rows, strict=True) if row.tags["loss"] in labels]
    return "\n".join([head, body[0], *kept])


def _related(name: str) -> Iterator[str]:
    found_claims, found_papers = related.claims_about(name), related.papers_with(name)
    if found_claims:
        yield "## Claims about it"
        yield bullets(f"[{one.number}](../claims/{one.number}.md): {text(one.words)}" for one in found_claims)
    if found_papers:
        yield "## Paper tables with it"
        yield bullets(f"[{text(one.title)}](../papers/{one.name}.md)" for one in found_papers)
